import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openAdmin, openStorage } from '../../src/cli/compose.ts';
import { loadConfig } from '../../src/cli/config.ts';
import type { Florin } from '../../src/cli/florin.ts';
import { startProcesses } from '../../src/cli/processes/startProcesses.ts';
import { permissions } from '../../src/core/access/rights.ts';
import { silentLog } from '../../src/core/log.ts';
import { silentProgress } from '../../src/core/progress.ts';
import { createAccount } from '../../src/engine/access/accounts.ts';
import { spendAll } from '../api/rateLimitRun.ts';
import { cloneDatabase } from '../support/databases.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { createKey } from '../support/operator.ts';
import { type Answer, send } from '../support/send.ts';
import { eventually } from '../support/until.ts';

const rate = { perMinute: 60, burst: 10 };
const perAddress = 60;

let florin: Florin;
let ca: string;
let newKey: () => Promise<string>;
let written = '';

/** A supervisor in this process, with two real processes for requests. */
beforeAll(async () => {
  const room = await mkdtemp(join(tmpdir(), 'florin-'));
  atEndOfFile(() => rm(room, { recursive: true, force: true }));
  const { url } = await cloneDatabase();
  const settings = { DATABASE_URL: url, FLORIN_PORT: '0', FLORIN_SANDBOX_PORT: '0', FLORIN_HOST: '127.0.0.1' };
  const env = { ...settings, FLORIN_ROLES: 'api', FLORIN_PROCESSES: '2' };
  const config = await loadConfig({ env: { ...env, FLORIN_CONNECTIONS_PER_ADDRESS: `${perAddress}` }, cwd: room });
  florin = await startProcesses(config, {
    log: silentLog,
    write: lines => {
      written += lines;
    },
    restored: undefined,
    progress: silentProgress,
    // So long that a busy machine does not look like a supervisor that is gone.
    limitBudgetMs: 20_000,
  });
  atEndOfFile(florin.stop);
  ca = await readFile(florin.caPath!, 'utf8');
  const storage = await openStorage(config, silentLog);
  atEndOfFile(storage.stop);
  const admin = await openAdmin(config, storage);
  newKey = async () => {
    const terms = { name: 'T', plan: 'sandbox', rateLimit: null, burst: null } as const;
    const { id: accountId } = await createAccount(admin, terms);
    const key = { accountId, environment: 'sandbox', name: 'test', scopes: permissions } as const;
    return (await createKey(admin, { ...key, ipAllow: null, expiresAt: null })).key;
  };
});

/** Each has a connection of its own, so the processes take turns. */
const ask = (key: string): Promise<Answer> =>
  send(florin.urls.sandbox.replace('localhost', '127.0.0.1'), 'GET', '/v1/webhooks', { ca, key });

test('two processes together allow what one does, with the same headers', async () => {
  const key = await newKey();
  await spendAll(rate, () => ask(key));
  await eventually(() => {
    for (const name of ['api-1', 'api-2']) expect(written).toMatch(new RegExp(`"process":"${name}".*"msg":"request"`));
  });
});

test('they do so also for requests that come at once', async () => {
  const key = await newKey();
  const startedMs = performance.now();
  let allowed = 0;
  for (let round = 0; round < 15; round++) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(key)));
    for (const { status } of answers) {
      expect([200, 429]).toContain(status);
      if (status === 200) allowed += 1;
    }
  }
  const elapsedSeconds = (performance.now() - startedMs) / 1_000;
  expect(allowed).toBeGreaterThanOrEqual(rate.perMinute + rate.burst);
  expect(allowed).toBeLessThanOrEqual(rate.perMinute + rate.burst + (elapsedSeconds * rate.perMinute) / 60 + 1);
});

const openFrom = async (localAddress: string): Promise<Socket> => {
  const { port } = new URL(florin.urls.sandbox);
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress, allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
};
/** A refused connection is closed before a byte is read; one that is taken is told to use HTTPS. */
const isRefused = async (localAddress: string): Promise<boolean> => {
  const socket = await openFrom(localAddress);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  let text = '';
  socket.setEncoding('utf8').on('data', chunk => {
    text += chunk;
  });
  // A refused one may be reset while it writes.
  socket.on('error', () => {});
  await new Promise(resolve => socket.once('close', resolve).once('end', () => socket.destroy()));
  return !text.startsWith('HTTP/1.1 403');
};

test('an address has so many connections to both together, and gets them back', { tags: ['thorough'] }, async () => {
  const open = await Promise.all(Array.from({ length: perAddress }, () => openFrom('127.0.0.3')));
  for (let i = 0; i < 4; i++) expect(await isRefused('127.0.0.3')).toBe(true);
  expect(await isRefused('127.0.0.4')).toBe(false);
  for (const socket of open) socket.destroy();
  await eventually(async () => expect(await isRefused('127.0.0.3')).toBe(false));
});
