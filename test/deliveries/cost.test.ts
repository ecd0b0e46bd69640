// @module-tag thorough
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Queryable } from '../../src/storage/database.ts';
import { readNow } from '../../src/storage/databaseClock.ts';
import {
  claimDeliveries,
  lookAtTargets,
  parkClosed,
  releaseDeliveries,
} from '../../src/storage/webhooks/deliveries.ts';
import { recordAttempts } from '../../src/storage/webhooks/deliveryAttempts.ts';
import { pagesRead } from '../support/pagesRead.ts';
import { type DeliveryScene, type Merchant, startDeliveryScene } from './deliveryScene.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** No deliverer runs and nothing is analysed: a table without statistics is the worst case. */
let scene: DeliveryScene;
let merchant: Merchant;
let busy: { id: string };
let closed: { id: string };
beforeAll(async () => {
  scene = await startDeliveryScene({ roles: 'api,watch' });
  for (const table of ['deliveries', 'events', 'delivery_attempts', 'webhook_endpoints']) {
    await scene.sql(`alter table ${table} set (autovacuum_enabled = off)`);
  }
  merchant = await scene.merchant();
  busy = await merchant.endpoint('http://127.0.0.1:9/');
  closed = await merchant.endpoint('http://127.0.0.1:9/closed');
});

const few = 300;
const many = 30_000;

const targetOf = (id: string) => ({ accountId: merchant.account.id, environment: 'sandbox' as const, target: id });
const db = () => scene.florin.admin.db;
const claim = async (at: Queryable, count: number) => {
  const wanted = { ...targetOf(busy.id), first: count, retries: count };
  return claimDeliveries(at, [wanted], { holder: 'a', seconds: 60, since: await readNow(db()) });
};

/** Each statement runs as in a deliverer, on the rows that exist by then. */
const statements: Record<string, (at: Queryable) => Promise<unknown>> = {
  claim: at => claim(at, 10),
  look: at => lookAtTargets(at, null, 1_000),
  'park for a closed endpoint': async at => {
    await scene.sql(`update webhook_endpoints set status = 'disabled' where id = $1`, closed.id);
    await parkClosed(at, [targetOf(closed.id)], 10);
  },
  release: async at => {
    const claimed = await claim(db(), 10);
    expect(claimed.length).toBeGreaterThanOrEqual(10);
    await releaseDeliveries(at, claimed);
  },
  record: async at => {
    const claimed = await claim(db(), 10);
    const records = claimed.map(delivery => ({
      ...delivery,
      deliveryId: delivery.id,
      atMs: Date.now(),
      signature: 'v1,x',
      statusCode: 500,
      error: 'answered 500',
      durationMs: 1,
      response: Buffer.alloc(10),
      status: 'scheduled' as const,
      delayMs: 5_000,
      parkedReason: null,
      gone: false,
    }));
    await recordAttempts(at, records);
  },
};

/** Half are first attempts, half retries; all due. */
const fill = async (endpoint: { id: string }, count: number): Promise<void> => {
  await scene.backlog(merchant, endpoint, count / 2);
  await scene.backlog(merchant, endpoint, count / 2, 2);
};

describe('what the database reads does not grow with what is scheduled', () => {
  const among: Record<string, { few: number; many: number }> = {};
  beforeAll(async () => {
    const names = Object.keys(statements);
    for (const name of names) among[name] = { few: 0, many: 0 };
    for (const [size, count] of [
      ['few', few],
      ['many', many],
    ] as const) {
      await fill(busy, count);
      await fill(closed, count);
      for (const name of names) among[name]![size] = await pagesRead(db(), statements[name]!);
    }
  });

  test.each(Object.keys(statements))('%s', name => {
    const pages = among[name]!;
    expect(pages.few).toBeGreaterThan(0);
    expect(pages.many).toBeLessThan(pages.few * 3 + 50);
  });
});

test('a look reads as many targets as it is told to, and goes on from there', async () => {
  const own = await scene.merchant();
  const endpoints = [];
  for (let i = 0; i < 25; i++) endpoints.push(await own.endpoint(`http://127.0.0.1:9/${i}`));
  for (const endpoint of endpoints) await scene.backlog(own, endpoint, 3);
  await scene.sql(
    `update deliveries set next_attempt_at = clock_timestamp() + interval '1 hour' where endpoint_id = $1`,
    endpoints[0]!.id,
  );
  await scene.sql(`update webhook_endpoints set deleted_at = clock_timestamp() where id = $1`, endpoints[1]!.id);
  const due: string[] = [];
  const over: string[] = [];
  let [looks, upTo] = [0, null as Awaited<ReturnType<typeof lookAtTargets>>['upTo']];
  do {
    const seen = await lookAtTargets(db(), upTo, 10);
    due.push(...seen.due.map(({ target }) => target));
    over.push(...seen.closed.map(({ target }) => target));
    upTo = seen.upTo;
    looks += 1;
  } while (upTo !== null);
  expect(looks).toBe(3);
  expect(due.toSorted()).toEqual([busy.id, ...endpoints.slice(2).map(({ id }) => id)].toSorted());
  expect(over.toSorted()).toEqual([closed.id, endpoints[1]!.id].toSorted());
  const pages = await pagesRead(db(), at => lookAtTargets(at, null, 5));
  expect(pages).toBeLessThan(await pagesRead(db(), at => lookAtTargets(at, null, 25)));
});
