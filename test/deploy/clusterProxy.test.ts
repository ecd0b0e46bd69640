// @module-tag proxies
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ordinary } from '../api/paymentCalls.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTestFlorin } from '../support/florin.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { type Answer, send } from '../support/send.ts';
import { until } from '../support/until.ts';
import { ports, startProxy } from './proxyProcess.ts';

/** Four times the interval at which the file asks for /readyz. */
const drainSeconds = '8';

/** Each process begins its ids of requests with a part of its own. */
const processOf = ({ headers }: Answer): string => String(headers['x-request-id']).slice(0, 16);

let create: () => Promise<Answer>;
let stopSecond: () => Promise<void>;
beforeAll(async () => {
  const env = { FLORIN_TRUSTED_PROXIES: '127.0.0.1', FLORIN_MASTER_KEY: randomBytes(32).toString('hex') };
  const first = await startTestFlorin({ env });
  const second = await startSecondFlorin(first.config.database!.url, { ...env, FLORIN_DRAIN_SECONDS: drainSeconds });
  stopSecond = second.stop;
  const { keys } = await first.account({ rateLimit: 100_000, burst: 0 });
  const certificate = join(first.config.dataDir, 'tls', 'server.pem');
  const { address } = startProxy('cluster', { ...first.florin.urls, second: second.florin.urls, certificate });
  const ca = readFileSync(first.florin.caPath!, 'utf8');
  const agent = new Agent({ ca, servername: 'localhost', localAddress: '127.0.0.2', keepAlive: true });
  atEndOfFile(() => agent.destroy());
  const outgoing = { agent, key: keys.sandbox, body: ordinary, headers: { host: `localhost:${ports.sandbox}` } };
  create = () => send(`https://${address}:${ports.sandbox}`, 'POST', '/v1/payments', outgoing);
});

test('two API processes share the requests, and none fails while one of them stops', async () => {
  const seen = new Set<string>();
  await until(
    async () => {
      const answer = await create();
      if (answer.status === 200) seen.add(processOf(answer));
      return seen.size;
    },
    size => size === 2,
  );

  let isStopped = false;
  const stopped = stopSecond().then(() => {
    isStopped = true;
  });
  let made = 0;
  while (!isStopped) {
    const answer = await create();
    expect(answer.status, answer.text).toBe(200);
    made += 1;
  }
  await stopped;
  expect(made).toBeGreaterThan(0);
  const after = [await create(), await create(), await create()];
  expect(after.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(after.map(processOf)).size).toBe(1);
});
