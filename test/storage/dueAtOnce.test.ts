import { beforeAll, expect, test } from 'vitest';
import { createIdSource } from '../../src/core/ids.ts';
import { insertAccountEvent, insertEvents } from '../../src/storage/webhooks/events.ts';
import { writePayments } from '../api/listingScene.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';

/** Ids of a process whose clock was an hour ahead for a moment: ids never go back, nor does the time in them. */
const ids = createIdSource(() => Math.floor(Math.random() * 2 ** 40));
/** Nothing here is read as an event. */
const seal = Buffer.alloc(32);
let aheadMs = 0;
let florin: TestFlorin;
let account: TestAccount;
beforeAll(async () => {
  florin = await startTestFlorin();
  account = await florin.account();
  aheadMs = florin.admin.clock.nowMs() + 3_600_000;
  const body = { url: 'http://127.0.0.1:9/' };
  const made = await florin.client.call('POST', '/v1/webhooks', { key: account.keys.sandbox, body });
  expect(made.status, made.text).toBe(200);
});

const dueOf = async (type: string): Promise<boolean[]> => {
  const text = `select next_attempt_at <= clock_timestamp() + interval '1 second' as due from deliveries d
    join events e on e.id = d.event_id where e.type = $1 and e.created_at > clock_timestamp() + interval '30 minutes'`;
  return (await florin.admin.db.query<{ due: boolean }>({ name: '', text }, [type])).map(({ due }) => due);
};

test('a payment from an hour ahead is told of now, and so is what becomes of it, by callback too', async () => {
  const [payment] = await writePayments(florin, account, [
    { createdMs: aheadMs, status: 'pending', currency: 'USDC', network: 'base' },
  ]);
  expect(await dueOf('payment.created')).toEqual([true]);
  await insertEvents(florin.admin.db, [
    {
      id: ids.next('event', aheadMs).id,
      payment: { accountId: account.id, environment: 'sandbox', id: payment!.id },
      sequence: 2,
      type: 'payment.canceled',
      status: 'canceled',
      exception: null,
      previousStatus: 'pending',
      previousException: null,
      body: '{}',
      createdAt: new Date(aheadMs),
      seal,
      trace: null,
      callback: { url: 'https://merchant.example/callback', seal },
    },
  ]);
  expect(await dueOf('payment.canceled')).toEqual([true, true]);
});

test('so is a sample', async () => {
  const scope = { accountId: account.id, environment: 'sandbox' } as const;
  const { id } = ids.next('event', aheadMs);
  const event = { id, type: 'webhook.test', body: '{}', createdAt: new Date(aheadMs), seal, trace: null };
  expect(await insertAccountEvent(florin.admin.db, scope, event)).toBe(1);
  expect(await dueOf('webhook.test')).toEqual([true]);
});
