import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Config } from '../../src/cli/config.ts';
import { checklist, examineLive, type LiveFinding } from '../../src/cli/live/checklist.ts';
import { checkNames } from '../../src/cli/live/siteChecks.ts';
import { inSituation } from '../../src/cli/live/situation.ts';
import { isPublicOrigin } from '../../src/core/url.ts';
import { masterKeyPath } from '../../src/vault/masterKey.ts';
import { createResolveHost } from '../../src/webhooks/connect.ts';
import { startRpcNode } from '../api/rpcNode.ts';
import { createAuthority, issue } from '../campaigns/deployDrill/authority.ts';
import { readDeployingPage } from '../campaigns/deployDrill/page.ts';
import { answering, startReceiver } from '../deliveries/receiver.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { type NameServer, startNameServer } from '../support/nameServer.ts';
import { setWallet } from '../support/operator.ts';
import { eventually } from '../support/until.ts';
import { run } from './cliProcess.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const names = { production: 'pay.example.com', sandbox: 'pay-sandbox.example.com' };
const treasury = '0x00000000000000000000000000000000DeaDBeef';

let room: string;
let nameServer: NameServer;
let scene: TestFlorin;
let accountId: string;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), 'florin-live-'));
  atEndOfFile(() => rm(room, { recursive: true, force: true }));
  nameServer = await startNameServer(0);
  atEndOfFile(nameServer.close);
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(createAuthority(room), 'utf8')]);
  const nodes = [await startRpcNode(8453), await startRpcNode(8453)];
  const base = { rpcUrls: nodes.map(({ url }) => url) };
  scene = await startTestFlorin({ configFile: { networks: { production: { base } } } });
  accountId = (await scene.account()).id;
});

const resolver = () => createResolveHost({ servers: [`127.0.0.1:${nameServer.port}`] });

/** The lines, by name. */
const linesOf = async (
  change: Partial<Config> = {},
  accept: readonly string[] = [],
): Promise<Record<string, LiveFinding>> => {
  const found = await examineLive(
    { ...scene.config, ...change },
    { account: accountId, accept, resolveHost: resolver() },
    error => {
      throw error;
    },
  );
  return Object.fromEntries(found.map(line => [line.check, line]));
};
const cli = (...args: string[]) => {
  const { dataDir, database } = scene.config;
  const env = { DATABASE_URL: database!.url, FLORIN_ALERT_URL: alertUrl };
  return run([...args, '--data-dir', dataDir], dirname(dataDir), env);
};
let alertUrl = 'http://127.0.0.1:1/';

test('each line is a step of docs/deploying.md, in its order', async () => {
  const { steps } = await readDeployingPage();
  const named = steps.filter(({ name }) => name !== null);
  expect(named.map(({ name }) => name)).toEqual(checklist.map(({ name }) => name));
  expect(named.map(({ number }) => number)).toEqual(checklist.map((_, at) => at + 1));
});

test('names must be set, public, known to the name servers and lead elsewhere', async () => {
  // This line alone: others would connect to what the name servers say.
  const namesLine = (production: string | null) => {
    const config = { ...scene.config, publicUrls: { production, sandbox: `https://${names.sandbox}` } };
    return inSituation(config, { account: accountId, resolveHost: resolver() }, String, checkNames);
  };
  nameServer.records.set(names.sandbox, '45.66.77.1');
  expect((await namesLine(null)).detail).toContain('FLORIN_PUBLIC_URL is not set');
  expect((await namesLine('https://localhost:8443')).detail).toContain('an address of this machine only');
  expect((await namesLine(`https://${names.production}`)).detail).toContain(`${names.production}: host name not found`);
  nameServer.records.set(names.production, '127.0.0.1');
  expect((await namesLine(`https://${names.production}`)).detail).toContain('leads to 127.0.0.1');
  nameServer.records.set(names.production, '45.66.77.1');
  expect(await namesLine(`https://${names.production}`)).toMatchObject({ ok: true });
  expect(['https://[::1]', 'https://a.localhost', 'http://pay.example.com'].map(isPublicOrigin)).toEqual([
    false,
    false,
    false,
  ]);
});

describe('the certificate', () => {
  beforeAll(() => void nameServer.records.set(names.production, '127.0.0.1').set(names.sandbox, '127.0.0.1'));
  const publicUrls = { production: `https://${names.production}`, sandbox: `https://${names.sandbox}` };
  const lineWith = async (certFile: string, keyFile: string) =>
    (await linesOf({ publicUrls, tls: { certFile, keyFile } })).certificate!;

  test('of files must be for all names, with its key, and not about to expire', async () => {
    const good = issue(room, join(room, 'good'), Object.values(names));
    const one = issue(room, join(room, 'one'), [names.production]);
    const old = issue(room, join(room, 'old'), Object.values(names), 1);
    expect(await lineWith(good.cert, good.key)).toMatchObject({ ok: true });
    expect((await lineWith(one.cert, one.key)).detail).toContain(`is not for ${names.sandbox}`);
    expect((await lineWith(good.cert, one.key)).detail).toContain('is not its private key');
    expect((await lineWith(join(room, 'none'), good.key)).detail).toContain('(ENOENT)');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 20 * 3_600_000 });
    expect((await lineWith(old.cert, old.key)).detail).toContain('was not renewed');
    vi.setSystemTime(Date.now() + 5 * 3_600_000);
    expect((await lineWith(old.cert, old.key)).detail).toContain('it expired');
    vi.useRealTimers();
  });

  test('that is served must be that of the files', { tags: ['thorough'] }, async () => {
    const before = issue(room, join(room, 'before'), Object.values(names));
    const after = issue(room, join(room, 'after'), Object.values(names));
    const server = createServer({ cert: readFileSync(before.cert), key: readFileSync(before.key) });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    atEndOfFile(() => server.close());
    const url = `https://${names.production}:${(server.address() as AddressInfo).port}`;
    const line = async ({ cert: certFile, key: keyFile }: typeof before) =>
      (await linesOf({ publicUrls: { production: url, sandbox: url }, tls: { certFile, keyFile } })).certificate!;
    expect(await line(before)).toMatchObject({ ok: true });
    expect((await line(after)).detail).toContain(`${url} serves another certificate than the file`);
  });

  test('and answer of a proxy are judged by what it serves', async () => {
    const { cert, key } = issue(room, join(room, 'proxy'), [names.production]);
    let body = '{"ready":true}';
    const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (_, response) =>
      response.end(body),
    );
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    atEndOfFile(() => server.close());
    const { port } = server.address() as AddressInfo;
    const urls = (sandbox: string) => ({ production: `https://${names.production}:${port}`, sandbox });
    const both = await linesOf({ publicUrls: urls(`https://${names.sandbox}:${port}`), tls: null });
    for (const line of [both.certificate!, both['public-addresses']!]) {
      expect(line.detail).toContain(`https://${names.sandbox}:${port}: certificate is for another host name`);
      expect(line.detail).not.toContain(`https://${names.production}`);
    }
    const same = { publicUrls: urls(`https://${names.production}:${port}`), tls: null };
    const good = await linesOf(same);
    expect([good.certificate!.ok, good['public-addresses']!.ok]).toEqual([true, true]);
    body = '<h1>Welcome</h1>';
    expect((await linesOf(same))['public-addresses']!.detail).toContain("Florin's /readyz would answer");
  });
});

describe('networks', () => {
  const withNodes = async (slug: 'base' | 'polygon', rpcUrls: readonly string[]) =>
    linesOf({ networks: { production: { [slug]: { rpcUrls } }, sandbox: {} } });

  test('need two nodes of the right chain, in step, that Florin reads', async () => {
    const urls = scene.config.networks.production.base!.rpcUrls;
    await eventually(async () => expect((await linesOf()).networks).toMatchObject({ ok: true }));
    expect((await withNodes('base', urls.slice(0, 1))).networks!.detail).toContain('base: it has one node');
    const { detail } = (await withNodes('polygon', urls)).networks!;
    expect(detail).toContain('polygon: node 1 serves chain 8453 instead of 137');
    expect(detail).toContain('polygon: Florin does not read it: it has not been polled yet');
    const far = await startRpcNode(8453, { factory: false });
    await far.node.request('hardhat_mine', '0x400');
    const apart = await withNodes('base', [urls[0]!, far.url]);
    expect(apart.networks!.detail).toMatch(/base: its nodes are \d{3,} blocks apart/);
    const dead = await withNodes('base', [urls[0]!, 'http://127.0.0.1:1']);
    expect(dead.networks!.detail).toContain('base: node 2 gives no usable answer (unreachable)');
    expect((await linesOf({ networks: { production: {}, sandbox: {} } })).networks!.ok).toBe(false);
    expect([(await linesOf()).factory!.ok, (await withNodes('base', [far.url])).factory!.detail]).toEqual([
      true,
      expect.stringContaining('base: it is absent'),
    ]);
  });

  test('need a wallet each, and one that somebody verified', async () => {
    expect((await linesOf()).wallet!.detail).toContain('No wallet is in force on base');
    await setWallet(scene.admin, { accountId, environment: 'production' }, 'base', { treasury });
    expect((await linesOf()).wallet!.detail).toContain('Set and verify a live wallet');
  });
});

test('a copy of the master key counts only if it is another file, of the key in force', {
  tags: ['thorough'],
}, async () => {
  const { dataDir } = scene.config;
  const line = async () => (await linesOf())['master-key']!;
  expect((await line()).detail).toContain('No copy was compared');
  const [copy, other] = [join(room, 'copy'), join(room, 'other')];
  await copyFile(masterKeyPath(dataDir), copy);
  await writeFile(other, 'ab'.repeat(32));
  expect(await cli('master-key', 'compare', masterKeyPath(dataDir))).toMatchObject({ code: 2 });
  expect((await cli('master-key', 'compare', other)).stderr).toContain('is not the master key in force');
  expect((await line()).ok).toBe(false);
  expect(await cli('master-key', 'compare', copy)).toMatchObject({ code: 0 });
  expect((await line()).ok).toBe(true);
});

test('an alert must have been accepted by the very address that is set', { tags: ['thorough'] }, async () => {
  const receiver = await startReceiver(answering(500));
  alertUrl = `${receiver.url}/alert`;
  expect(await cli('alerts', 'test')).toMatchObject({ code: 1, stderr: expect.stringContaining('did not accept') });
  expect((await linesOf({ alertUrl })).alerts!.ok).toBe(false);
  receiver.answer = answering(204);
  expect(await cli('alerts', 'test')).toMatchObject({ code: 0 });
  expect(JSON.parse(receiver.received.at(-1)!.body.toString())).toMatchObject({
    type: 'deployment.alert',
    accountId: null,
    data: { action: 'alert.tested' },
  });
  expect((await linesOf({ alertUrl })).alerts!.ok).toBe(true);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 91 * 86_400_000 });
  expect((await linesOf({ alertUrl })).alerts!.detail).toContain('which is long ago');
  vi.useRealTimers();
  expect((await linesOf({ alertUrl: `${alertUrl}2` })).alerts!.ok).toBe(false);
  expect((await linesOf({ alertUrl: null })).alerts!.detail).toContain('FLORIN_ALERT_URL is not set');
});

test('metrics must be served and a mail server must accept Florin; no mail server is well', async () => {
  const server = { host: '127.0.0.1', port: 1, security: 'plain', user: null } as const;
  const from = { name: '', address: 'florin@example.com' };
  const dead = await linesOf({ mail: { server, from }, metrics: { port: 1, hosts: ['::1'] } });
  expect(dead.mail).toMatchObject({ ok: false, detail: expect.stringContaining('the mail server failed (E') });
  expect(dead.metrics!.detail).toContain('http://[::1]:1/metrics does not answer');
  expect((await linesOf()).metrics!.detail).toContain('FLORIN_METRICS_PORT is not set');
});

test('the command prints each line once, ends with 1, and accepts what the operator takes as it is', async () => {
  const { code, stdout } = await cli('doctor', '--live', '--accept', 'backups', '--account', accountId);
  expect(code).toBe(1);
  const lines = stdout.split('\n\n')[1]!.trimEnd().split('\n');
  expect(lines.map(line => line.slice(9).split(':', 1)[0]!.trim())).toEqual(
    checklist.map(({ name }, at) => `${at + 1} ${name}`),
  );
  expect(lines[7]).toMatch(/^accepted +8 backups: Florin cannot see the backups of your own server/);
  expect(lines[10]).toBe('ok       11 mail: not set up, and optional');
  expect(lines.at(-1)).toMatch(/^NOT OK {3}16 first-payment: No live payment/);
});
