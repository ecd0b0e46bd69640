import { beforeAll, expect, test } from 'vitest';
import { createIdSource } from '../../src/core/ids.ts';
import { insertEvents } from '../../src/storage/webhooks/events.ts';
import { writePayments } from '../api/listingScene.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';

let florin: TestFlorin;
beforeAll(async () => {
  florin = await startTestFlorin();
});

test('bodies that are written together come back byte for byte, whatever they are made of', async () => {
  const account = await florin.account();
  const nowMs = florin.admin.clock.nowMs();
  const [payment] = await writePayments(florin, account, [
    { createdMs: nowMs, status: 'pending', currency: 'USDC', network: 'base' },
  ]);
  const ids = createIdSource(() => Math.floor(Math.random() * 2 ** 40));
  const bodies = [
    '{"a":"é"}',
    '{"b":"\\"\\\\{,}"}',
    '',
    '{"c":"日本 🪙"}',
    '{\n\t"d": NULL}',
    `{"e":"${'ß'.repeat(20_000)}"}`,
    '{}',
  ];
  await insertEvents(
    florin.admin.db,
    bodies.map((body, at) => ({
      id: ids.next('event', nowMs).id,
      payment: { accountId: account.id, environment: 'sandbox', id: payment!.id },
      sequence: at + 2,
      type: 'payment.stray',
      status: 'pending',
      exception: null,
      previousStatus: 'pending',
      previousException: null,
      body,
      createdAt: new Date(nowMs),
      seal: Buffer.alloc(32),
      trace: null,
      callback: null,
    })),
  );
  const text = 'select body from events where payment_id = $1 and sequence > 1 order by sequence';
  const rows = await florin.admin.db.query<{ body: string }>({ name: '', text }, [payment!.id]);
  expect(rows.map(row => row.body)).toEqual(bodies);
});
