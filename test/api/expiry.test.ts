import { beforeAll, expect, test } from 'vitest';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { until } from '../support/until.ts';
import { expectError, ordinary, type PaymentCalls, paymentCalls } from './paymentCalls.ts';

let scene: TestFlorin;
let calls: PaymentCalls;
beforeAll(async () => {
  scene = await startTestFlorin();
  calls = paymentCalls(scene, await scene.account());
});

const isPast = async (id: string): Promise<boolean> =>
  (
    await scene.admin.db.query<{ past: boolean }>(
      { name: 'test-past', text: 'select clock_timestamp() > expires_at as past from payments where id = $1' },
      [id],
    )
  )[0]!.past;

const statusOf = async (id: string): Promise<string> => (await calls.read(id)).json.status;

test('a payment is pending until its time is over, and expired after', async () => {
  const short = await calls.made({ expiresIn: 1 });
  const long = await calls.made({ expiresIn: 600 });
  expect(short.status).toBe('pending');
  const expired = await until(
    () => calls.read(short.id),
    answer => answer.json.status !== 'pending',
  );
  expect(expired.json).toEqual({ ...short, status: 'expired' });
  expect(await isPast(short.id)).toBe(true);
  expect((await calls.read(long.id)).json).toEqual(long);
});

test('never before its time: the event of expiry is not earlier than expiresAt', async () => {
  const payments = await Promise.all(Array.from({ length: 20 }, () => calls.made({ expiresIn: 1 })));
  for (const { id } of payments) {
    await until(
      () => statusOf(id),
      status => status === 'expired',
    );
  }
  const early = await scene.admin.db.query({
    name: 'test-early',
    text: `select p.id from payments p join events e on e.payment_id = p.id
      where e.type = 'payment.expired' and e.created_at < p.expires_at`,
  });
  expect(early).toEqual([]);
});

test('a stopped chain holds expiry and creation back; both go on once it answers again', {
  tags: ['thorough'],
}, async () => {
  const pid = scene.florin.devChainPid();
  expect(pid).not.toBeNull();
  const keyed = { headers: { 'idempotency-key': 'before-the-stop' } };
  const earlier = await calls.create(ordinary, keyed);
  const waiting = await calls.made({ expiresIn: 2 });
  process.kill(pid!, 'SIGSTOP');
  try {
    const refused = await until(
      () => calls.create(),
      answer => answer.status !== 200,
    );
    expectError(refused, 503, 'network_unavailable');
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    await until(
      () => isPast(waiting.id),
      past => past,
    );
    // Polls continue without an answer, so no poll begun after expiresAt can have found every block processed.
    const { checkedAt } = (await scene.client.call('GET', '/v1/networks/base')).json;
    await until(
      () => scene.client.call('GET', '/v1/networks/base'),
      answer => answer.json.checkedAt > checkedAt,
    );
    expect((await calls.read(waiting.id)).json).toEqual(waiting);
    expect((await scene.client.call('GET', '/v1/networks/base')).json.status).toBe('down');
    // Existing payments can still be listed, canceled and replayed.
    expect((await calls.list('limit=1')).status).toBe(200);
    expect((await calls.act(earlier.json.id, 'cancel')).json.status).toBe('canceled');
    const replayed = await calls.create(ordinary, keyed);
    expect(replayed).toMatchObject({ status: 200, text: earlier.text });
    expect(replayed.headers['idempotent-replayed']).toBe('true');
  } finally {
    process.kill(pid!, 'SIGCONT');
  }
  const expired = await until(
    () => calls.read(waiting.id),
    answer => answer.json.status !== 'pending',
  );
  expect(expired.json).toEqual({ ...waiting, status: 'expired' });
  const created = await until(
    () => calls.create(ordinary),
    answer => answer.status !== 503,
  );
  expect(created.status, created.text).toBe(200);
});
