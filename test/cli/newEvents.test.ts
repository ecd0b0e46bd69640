import { beforeAll, expect, test } from 'vitest';
import { newEvents } from '../../src/cli/newEvents.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { triggerEvent } from '../../src/engine/webhooks/triggerEvent.ts';
import { ConnectionLost, type Queryable } from '../../src/storage/database.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';

let florin: TestFlorin;
beforeAll(async () => {
  florin = await startTestFlorin();
});

/** A listener whose clock, and that of what it is told of, runs as fast as the test likes. */
const listening = async () => {
  const { id: accountId } = await florin.account();
  const scope = { accountId, environment: 'sandbox' } as const;
  let aheadMs = 0;
  const clock = { nowMs: () => florin.admin.clock.nowMs() + aheadMs, synchronize: async () => {} };
  let refused: (() => void) | null = null;
  const query: Queryable['query'] = (statement, values) => {
    if (refused === null) return florin.admin.db.query(statement, values);
    refused();
    return Promise.reject(new ConnectionLost('away'));
  };
  // Of its own: ids never go back in time.
  const ids = createIdSource(() => Math.floor(Math.random() * 2 ** 40));
  const stopping = new AbortController();
  const admin = { ...florin.admin, clock, db: { ...florin.admin.db, query } };
  const events = newEvents(admin, scope, stopping.signal);
  return {
    trigger: async () =>
      (await triggerEvent({ ...florin.admin, clock, ids }, scope, 'payment.late', { checkoutUrl: 'https://x.example' }))
        .id,
    pass: (ms: number) => {
      aheadMs += ms;
    },
    next: async () => (await events.next()).value?.id,
    /** The database is away for as long as `during` takes, and that is noticed. */
    async absence(during: () => Promise<string>): Promise<string> {
      const noticed = Promise.withResolvers<void>();
      refused = noticed.resolve;
      const result = await during();
      await noticed.promise;
      refused = null;
      return result;
    },
    stop: () => stopping.abort(),
  };
};

test('what happens while the receiver takes its time is told afterwards, and nothing twice', async () => {
  const { trigger, pass, next, stop } = await listening();
  // The first look begins here.
  const told = next();
  const first = await trigger();
  expect(await told).toBe(first);
  const second = await trigger();
  pass(60_000);
  const third = await trigger();
  pass(60_000);
  expect(await next()).toBe(second);
  expect(await next()).toBe(third);
  stop();
  expect(await next()).toBeUndefined();
});

test('after an absence, what was told before it is not told again', async () => {
  const { trigger, pass, next, absence, stop } = await listening();
  const told = next();
  const first = await trigger();
  expect(await told).toBe(first);
  // By the next look the first is past its window.
  pass(60_000);
  const second = await trigger();
  expect(await next()).toBe(second);
  const third = next();
  const after = await absence(() => {
    pass(60_000);
    return trigger();
  });
  expect(await third).toBe(after);
  stop();
  expect(await next()).toBeUndefined();
});
