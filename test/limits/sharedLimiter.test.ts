import { createClient } from '@redis/client';
import { expect, test } from 'vitest';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startRedis } from '../support/redisServer.ts';
import { eventually } from '../support/until.ts';
import { accepted, connected, openLimiter, slow, takeTimes } from './limiterScene.ts';

const needed = { tags: ['redis'] };

test('two processes share a bucket', needed, async () => {
  const { url } = await startRedis();
  const both = await Promise.all([connected(url), connected(url)]);
  const decisions = await Promise.all(both.flatMap(each => takeTimes(each, 100)));
  expect(accepted(decisions.flat())).toBe(10);
  // Another deployment on the same server has buckets of its own.
  const other = await connected(url, { deployment: 'two' });
  expect((await other.take('a', slow)).allowed).toBe(true);
});

test('an emptied server starts with full buckets and goes on', needed, async () => {
  const { url, port } = await startRedis();
  const limiter = await connected(url);
  const client = createClient({ socket: { host: '127.0.0.1', port } });
  await client.connect();
  atEndOfFile(() => client.destroy());
  await takeTimes(limiter, 10);
  expect((await limiter.take('a', slow)).allowed).toBe(false);
  await client.sendCommand(['FLUSHALL']);
  await client.sendCommand(['SCRIPT', 'FLUSH']);
  expect((await limiter.take('a', slow)).allowed).toBe(true);
  expect(limiter.told).toEqual([]);
});

test('a process that is busy for longer than a request waits does not take the server for gone', needed, async () => {
  const { url } = await startRedis();
  const budgetMs = 2_000;
  const limiter = await connected(url, { budgetMs });
  for (let turn = 0; turn < 2; turn++) {
    const taking = takeTimes(limiter, 10);
    for (const startedMs = performance.now(); performance.now() < startedMs + budgetMs; );
    expect(accepted(await taking)).toBe(turn === 0 ? 10 : 0);
  }
  expect(limiter.countedAlone()).toBe(0);
  expect(limiter.told).toEqual([]);
});

test('many requests that wait side by side and get no answer are one failure', needed, async () => {
  const server = await startRedis();
  const limiter = await connected(server.url, { budgetMs: 1_000 });
  server.pause();
  for (const isShared of [true, true, false]) {
    await takeTimes(limiter, 10);
    expect(limiter.isShared()).toBe(isShared);
  }
  expect(limiter.countedAlone()).toBe(30);
  server.resume();
});

test('while the server stands still, each process counts alone from where the buckets were', needed, async () => {
  const server = await startRedis();
  const limiter = await connected(server.url, { budgetMs: 1_000 });
  await takeTimes(limiter, 7);
  server.pause();
  for (const more of [2, 1, 0, 0]) expect(accepted(await takeTimes(limiter, 2))).toBe(more);
  expect(limiter.told).toEqual([false]);
  expect(new Set(limiter.causes)).toEqual(new Set(['ETIMEDOUT']));
  server.resume();
  // Nobody has to ask for that.
  await eventually(() => expect(limiter.isShared()).toBe(true));
  expect(limiter.told).toEqual([false, true]);
  // What was counted alone is not known to the server, nor is what it answered too late counted twice.
  expect((await limiter.take('b', slow)).tokens).toBeCloseTo(9, 1);
});

test('a server that is killed and started again is used again, and the reason is told', needed, async () => {
  const server = await startRedis();
  const limiter = await connected(server.url);
  await takeTimes(limiter, 4);
  await server.kill();
  expect(accepted(await takeTimes(limiter, 50))).toBe(6);
  for (let i = 0; i < 3; i++) await limiter.take('a', slow);
  expect(limiter.isShared()).toBe(false);
  await eventually(() => expect(limiter.causes).toContain('ECONNREFUSED'));
  await server.start();
  await eventually(() => expect(limiter.isShared()).toBe(true));
  expect(limiter.told).toEqual([false, true]);
  expect(accepted(await takeTimes(limiter, 20))).toBe(10);
});

test('a server that goes while nobody asks is noticed', needed, async () => {
  const server = await startRedis();
  const limiter = await connected(server.url);
  await server.kill();
  await eventually(() => expect(limiter.told).toEqual([false]));
  expect(limiter.countedAlone()).toBe(0);
});

test('a server that is not there at first is used once it is', needed, async () => {
  const server = await startRedis();
  await server.kill();
  const limiter = openLimiter(server.url);
  expect((await limiter.take('a', slow)).allowed).toBe(true);
  expect(limiter.isShared()).toBe(false);
  await server.start();
  await limiter.ready;
  const other = await connected(server.url);
  await takeTimes(other, 10, 'b');
  expect((await limiter.take('b', slow)).allowed).toBe(false);
});
