import { beforeAll, expect, test } from 'vitest';
import { startReceiver } from '../deliveries/receiver.ts';
import { type Cutter, startCutter } from '../support/cutAfter.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { setWallet } from '../support/operator.ts';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';

const treasury = '0x52908400098527886E0F7030069857D2E4169EE7';

let cutter: Cutter;
let florin: TestFlorin;
let account: TestAccount;
let ask: <T>(text: string, ...values: unknown[]) => Promise<T[]>;
beforeAll(async () => {
  const { url } = await cloneDatabase();
  const db = openTestDatabase(url);
  ask = async (text, ...values) => (await db.query({ name: '', text }, values)) as never;
  cutter = await startCutter(url);
  florin = await startTestFlorin({ env: { DATABASE_URL: cutter.url, FLORIN_ROLES: 'api,watch,deliver' } });
  account = await florin.account();
  await setWallet(florin.admin, { accountId: account.id, environment: 'sandbox' }, 'base', { treasury });
});

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  florin.client.call(method, path, { key: account.keys.sandbox, body, headers });
const order = { amount: '25', currency: 'USDC', network: 'base' };
const made = async (): Promise<string> => (await until(() => call('POST', '/v1/payments', order), isDone)).json.id;
const isDone = ({ status }: Answer): boolean => status === 200;
const kindsOf = async (id: string): Promise<string[]> =>
  (await ask<{ type: string }>('select type from events where payment_id = $1 order by id', id)).map(
    ({ type }) => type,
  );
const fourEvents = ['created', 'detected', 'confirming', 'completed'].map(kind => `payment.${kind}`);
const completed = (id: string): Promise<Answer> =>
  until(
    () => call('GET', `/v1/payments/${id}`),
    ({ json }) => json.status === 'completed',
  );
const pay = (id: string): Promise<Answer> =>
  until(() => call('POST', `/v1/sandbox/payments/${id}/simulate`, { outcome: 'paid' }), isDone);

test('a payment whose commit got no answer is refused with 503, and the same key finds it', async () => {
  await made();
  const headers = { 'idempotency-key': 'unknown' };
  const cut = cutter.cutAfter('payments-insert');
  const first = await call('POST', '/v1/payments', order, headers);
  await cut;
  expect([first.status, first.json.error.code]).toEqual([503, 'service_unavailable']);
  const written = await ask<{ id: string }>(
    `select p.id from payments p join idempotency_keys k on k.account_id = p.account_id where k.key = 'unknown'
       and k.response like '%' || p.id || '%'`,
  );
  expect(written).toHaveLength(1);
  const second = await until(() => call('POST', '/v1/payments', order, headers), isDone);
  expect(second.json.id).toBe(written[0]!.id);
});

test('another write whose commit got no answer is done once with its key', async () => {
  const headers = { 'idempotency-key': 'cancel' };
  const id = await made();
  const cut = cutter.cutAfter('idempotency-keep');
  const first = await call('POST', `/v1/payments/${id}/cancel`, {}, headers);
  await cut;
  expect(first.status).toBe(503);
  const second = await until(() => call('POST', `/v1/payments/${id}/cancel`, {}, headers), isDone);
  expect(second.json.status).toBe('canceled');
  expect(await kindsOf(id)).toEqual(['payment.created', 'payment.canceled']);
});

test('blocks whose commit got no answer are applied once: the watcher reads its cursor again', async () => {
  const id = await made();
  const cut = cutter.cutAfter('blocks-insert');
  await pay(id);
  await cut;
  const { json } = await completed(id);
  expect(json).toMatchObject({ exception: null, amountReceived: '25.00' });
  expect(await kindsOf(id)).toEqual(fourEvents);
  expect(await ask('select 1 from transfers where payment_id = $1', id)).toHaveLength(1);
});

const recorded = `select d.status, d.attempts, (select count(*)::int from delivery_attempts a where a.delivery_id = d.id) as logged
  from deliveries d join events e on e.id = d.event_id where e.payment_id = $1`;

test('the result of a delivery whose commit got no answer is on record once, and the event is not sent again', async () => {
  const receiver = await startReceiver();
  const endpoint = { url: receiver.url, events: ['payment.created'] };
  await until(() => call('POST', '/v1/webhooks', endpoint), isDone);
  const cut = cutter.cutAfter('delivery-record');
  const id = await made();
  await cut;
  // The same result is offered again, and so is that of the next event.
  const next = await made();
  for (const each of [id, next]) {
    const rows = await until(
      () => ask<{ status: string }>(recorded, each),
      ([row]) => row?.status === 'succeeded',
    );
    expect(rows).toEqual([{ status: 'succeeded', attempts: 1, logged: 1 }]);
  }
  expect(
    receiver
      .events()
      .map(({ data }) => data.id)
      .toSorted(),
  ).toEqual([id, next].toSorted());
});
