import { createClient } from '@redis/client';
import { expect, test } from 'vitest';
import type { RateLimit } from '../../src/core/plans.ts';
import { createLocalLimiter } from '../../src/limits/localLimiter.ts';
import { askRedis, openRedisBuckets } from '../../src/limits/redisBuckets.ts';
import { type RedisServer as RedisPlace, readRedisUrl } from '../../src/limits/redisUrl.ts';
import { createSharedLimiter } from '../../src/limits/sharedLimiter.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { eventually } from '../support/until.ts';

const nowMs = (): number => performance.now();

/** So long that a busy machine does not look like a server that is gone. */
const patientMs = 20_000;

const openLimiter = (url: string, { deployment = 'one', budgetMs = patientMs } = {}) => {
  const told: boolean[] = [];
  const ready = Promise.withResolvers<void>();
  const remote = openRedisBuckets(readRedisUrl(url) as RedisPlace, deployment, () => {
    limiter.retry();
    ready.resolve();
  });
  const local = createLocalLimiter(nowMs);
  const limiter = createSharedLimiter({ remote, local, nowMs, budgetMs, tell: isShared => told.push(isShared) });
  atEndOfFile(remote.close);
  return { ...limiter, told, ready: ready.promise };
};

/** So slow that no token comes back during a test. */
const slow: RateLimit = { perMinute: 1, burst: 9 };

const connected = async (server: RedisServer, options = {}) => {
  const limiter = openLimiter(server.url, options);
  await limiter.ready;
  return limiter;
};

const accepted = (decisions: readonly { allowed: boolean }[]): number =>
  decisions.filter(({ allowed }) => allowed).length;

test('two processes share a bucket', { tags: ['redis'] }, async () => {
  const server = await startRedis();
  const both = await Promise.all([connected(server), connected(server)]);
  const decisions = await Promise.all(both.flatMap(each => Array.from({ length: 100 }, () => each.take('a', slow))));
  expect(accepted(decisions)).toBe(10);
  // Another deployment on the same server has buckets of its own.
  const other = await connected(server, { deployment: 'two' });
  expect((await other.take('a', slow)).allowed).toBe(true);
});

test('an emptied server starts with full buckets and goes on', { tags: ['redis'] }, async () => {
  const server = await startRedis();
  const limiter = await connected(server);
  const client = createClient({ socket: { host: '127.0.0.1', port: server.port } });
  await client.connect();
  atEndOfFile(() => client.destroy());
  await Promise.all(Array.from({ length: 10 }, () => limiter.take('a', slow)));
  expect((await limiter.take('a', slow)).allowed).toBe(false);
  await client.sendCommand(['FLUSHALL']);
  await client.sendCommand(['SCRIPT', 'FLUSH']);
  expect((await limiter.take('a', slow)).allowed).toBe(true);
  expect(limiter.told).toEqual([]);
});

test('while the server stands still, each process counts by itself, and says so once', {
  tags: ['redis'],
}, async () => {
  const server = await startRedis();
  const limiter = await connected(server, { budgetMs: 2_000 });
  await Promise.all(Array.from({ length: 10 }, () => limiter.take('a', slow)));
  server.pause();
  const decisions = await Promise.all(Array.from({ length: 50 }, () => limiter.take('a', slow)));
  expect(accepted(decisions)).toBe(10);
  expect(limiter.told).toEqual([false]);
  server.resume();
  await eventually(async () => {
    expect((await limiter.take('a', slow)).allowed).toBe(false);
    expect(limiter.isShared()).toBe(true);
  });
  expect(limiter.told).toEqual([false, true]);
});

test('a server that is killed and started again is used again', { tags: ['redis'] }, async () => {
  const server = await startRedis();
  const limiter = await connected(server);
  await server.kill();
  const decisions = await Promise.all(Array.from({ length: 50 }, () => limiter.take('a', slow)));
  expect(accepted(decisions)).toBe(10);
  expect(limiter.isShared()).toBe(false);
  await server.start();
  await eventually(async () => {
    await limiter.take('b', slow);
    expect(limiter.isShared()).toBe(true);
  });
  expect(limiter.told).toEqual([false, true]);
});

test('a server that is not there at first is used once it is', { tags: ['redis'] }, async () => {
  const server = await startRedis();
  await server.kill();
  const limiter = openLimiter(server.url);
  expect((await limiter.take('a', slow)).allowed).toBe(true);
  await server.start();
  await limiter.ready;
  const other = await connected(server);
  await Promise.all(Array.from({ length: 10 }, () => other.take('b', slow)));
  expect((await limiter.take('b', slow)).allowed).toBe(false);
});

test('a user of an access list needs its password', { tags: ['redis'] }, async () => {
  const commands = ['eval', 'evalsha', 'time', 'hmget', 'hset', 'pexpire'].map(name => `+${name}`);
  const users = ['--user', 'florin', 'on', '>s3cret', '~florin:*', ...commands, '--user', 'default', 'off'];
  const server = await startRedis(...users);
  const limiter = openLimiter(`redis://florin:s3cret@127.0.0.1:${server.port}`);
  const wrong = openLimiter(`redis://florin:wrong@127.0.0.1:${server.port}`);
  await limiter.ready;
  for (let i = 0; i < 5; i++) await limiter.take('a', slow);
  expect(limiter.told).toEqual([]);
  expect(limiter.isShared()).toBe(true);
  for (let i = 0; i < 5; i++) await wrong.take('a', slow);
  expect(wrong.isShared()).toBe(false);
});

test('doctor learns why the server cannot be used', { tags: ['redis'] }, async () => {
  const server = await startRedis('--requirepass', 's3cret');
  const asked = (credentials: string) =>
    askRedis(readRedisUrl(`redis://${credentials}127.0.0.1:${server.port}`) as RedisPlace, 'one');
  expect(await asked(':s3cret@')).toBeNull();
  expect(await asked(':wrong@')).toBe('WRONGPASS');
  expect(await asked('')).toBe('NOAUTH');
  await server.kill();
  expect(await asked(':s3cret@')).toBe('ECONNREFUSED');
});
