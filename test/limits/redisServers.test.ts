import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { createClient } from '@redis/client';
import { expect, test } from 'vitest';
import { askRedis } from '../../src/limits/redisBuckets.ts';
import { type RedisServer as RedisPlace, readRedisUrl } from '../../src/limits/redisUrl.ts';
import { ensureLocalCertificates } from '../../src/local/localCa.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { freePort } from '../support/freePort.ts';
import { startRedis, startSentinel } from '../support/redisServer.ts';
import { eventually } from '../support/until.ts';
import { accepted, connected, keysOf, openLimiter, takeTimes } from './limiterScene.ts';

const needed = { tags: ['redis'] };

const ask = (url: string, patienceMs = 20_000): Promise<string | null> =>
  askRedis(readRedisUrl(url) as RedisPlace, keysOf('one'), patienceMs);

const openClient = async (port: number, password?: string) => {
  const client = createClient({ socket: { host: '127.0.0.1', port }, ...(password ? { password } : {}) });
  client.on('error', () => {});
  await client.connect();
  atEndOfFile(() => client.destroy());
  return client;
};

test('the user of the guide has the rights that Florin needs, also with a database number', needed, async () => {
  const guide = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const command = /^ACL SETUSER florin .*$/m.exec(guide)![0];
  const { port } = await startRedis();
  await (await openClient(port)).sendCommand(command.split(' '));
  const limiter = await connected(`redis://florin:secret@127.0.0.1:${port}/2`);
  expect(accepted(await takeTimes(limiter, 20))).toBe(10);
  expect(limiter.told).toEqual([]);
});

test('a password that is wrong or missing, and a right that is missing, are told as the reason', needed, async () => {
  const { port } = await startRedis('--user', 'florin', 'on', '>s3cret', '~florin:*', '+evalsha');
  const users = ['florin:wrong@', 'florin:s3cret@'].map(user => openLimiter(`redis://${user}127.0.0.1:${port}`));
  await eventually(() => expect(users.map(({ causes }) => causes.at(-1))).toEqual(['WRONGPASS', 'NOPERM']));
  for (const { isShared } of users) expect(isShared()).toBe(false);
});

test('doctor learns why the server cannot be used', needed, async () => {
  const server = await startRedis('--requirepass', 's3cret');
  const asked = (credentials: string, patienceMs?: number) =>
    ask(`redis://${credentials}127.0.0.1:${server.port}`, patienceMs);
  expect(await asked(':s3cret@')).toBeNull();
  expect(await asked(':wrong@')).toBe('WRONGPASS');
  expect(await asked('')).toBe('NOAUTH');
  server.pause();
  expect(await asked(':s3cret@', 500)).toBe('ETIMEDOUT');
  server.resume();
  await server.kill();
  expect(await asked(':s3cret@')).toBe('ECONNREFUSED');
});

test('a connection is encrypted, and a certificate of an unknown authority is refused', needed, async () => {
  const room = await mkdtemp(join(tmpdir(), 'florin-redis-tls-'));
  atEndOfFile(() => rm(room, { recursive: true, force: true }));
  const { key, cert, caPath } = await ensureLocalCertificates({ dataDir: room });
  await writeFile(join(room, 'key.pem'), key);
  await writeFile(join(room, 'cert.pem'), cert);
  const files = ['--tls-key-file', join(room, 'key.pem'), '--tls-cert-file', join(room, 'cert.pem')];
  const port = await freePort();
  await startRedis('--tls-port', String(port), ...files, '--tls-auth-clients', 'no');
  const url = `rediss://localhost:${port}`;
  expect(await ask(url)).toMatch(/^(?:SELF_SIGNED|UNABLE_TO)/);
  const authorities = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...authorities, await readFile(caPath, 'utf8')]);
  atEndOfFile(() => tls.setDefaultCACertificates(authorities));
  const limiter = await connected(url);
  expect(accepted(await takeTimes(limiter, 20))).toBe(10);
});

test('sentinels lead to the server in charge, also when it is another one', needed, async () => {
  const password = ['--requirepass', 'one', '--masterauth', 'one'];
  const first = await startRedis(...password);
  const second = await startRedis(...password, '--replicaof', '127.0.0.1', String(first.port));
  const sentinel = await startSentinel(first, ['sentinel auth-pass main one', 'requirepass two']);
  // It learns of the second from the first.
  const asked = await openClient(sentinel.port, 'two');
  await eventually(async () => {
    const replicas = (await asked.sendCommand(['SENTINEL', 'replicas', 'main'])) as unknown[];
    expect(JSON.stringify(replicas)).toContain(String(second.port));
    expect(JSON.stringify(replicas)).toContain('"ok"');
  });

  const gone = await startRedis();
  await gone.kill();
  const hosts = `127.0.0.1:${gone.port},127.0.0.1:${sentinel.port}`;
  const url = `redis://:one@${hosts}?sentinel=main&sentinelPassword=two`;
  expect(await ask(url.replace('=two', '=wrong'))).toBe('WRONGPASS');
  expect(await ask(url.replace('sentinel=main', 'sentinel=other'))).toBe('ENOENT');
  const limiter = await connected(url);
  expect(accepted(await takeTimes(limiter, 20))).toBe(10);
  await first.kill();
  const role = async () => {
    const client = await openClient(second.port, 'one');
    const [name] = (await client.sendCommand(['ROLE'])) as string[];
    return name;
  };
  await eventually(async () => {
    expect(await role()).toBe('master');
    await takeTimes(limiter, 1, 'b');
    expect(limiter.told.at(-1)).toBe(true);
  });
  expect(limiter.told).toEqual([false, true]);
});
