import { beforeAll, describe, expect, test } from 'vitest';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { manyEventId, writeManyEvents } from '../support/manyEvents.ts';
import type { Answer } from '../support/send.ts';
import { expectError, expectInvalid, paymentCalls } from './paymentCalls.ts';

/** Without the deliverer: these tests check what is scheduled. */
let scene: TestFlorin;
beforeAll(async () => {
  scene = await startTestFlorin();
});

const all = { from: '2020-01-01', to: '2120-01-01' };
type Sending = { by?: TestAccount; headers?: Record<string, string> };

const newcomer = async () => {
  const account = await scene.account();
  const call = (method: string, path: string, body?: unknown, { by = account, headers = {} }: Sending = {}) =>
    scene.client.call(method, `/v1${path}`, { key: by.keys.sandbox, body, headers });
  return {
    account,
    calls: paymentCalls(scene, account),
    call,
    async endpoint(events = ['*']): Promise<string> {
      const answer = await call('POST', '/webhooks', { url: 'http://127.0.0.1:9/', events });
      expect(answer.status, answer.text).toBe(200);
      return answer.json.id;
    },
    replay: (id: string, range: unknown = all, sending: Sending = {}): Promise<Answer> =>
      call('POST', `/webhooks/${id}/replay`, range, sending),
    async deliveries(id: string): Promise<Answer['json'][]> {
      return (await call('GET', `/webhooks/${id}/deliveries?limit=100`)).json.data;
    },
  };
};
type Newcomer = Awaited<ReturnType<typeof newcomer>>;

const expectScheduled = (answer: Answer, scheduled: number): void =>
  expect([answer.status, answer.json], answer.text).toEqual([200, { scheduled }]);

/** Makes a payment with one further event per given time. */
const eventsAt = async ({ account, calls }: Newcomer, times: number[], type?: string): Promise<string[]> => {
  const { id: paymentId } = await calls.made();
  for (const [i, atMs] of times.entries()) {
    const event = { accountId: account.id, paymentId, atMs, first: i + 2, count: 1 };
    await writeManyEvents(scene.admin.db, { ...event, ...(type === undefined ? {} : { type }) });
  }
  return times.map((atMs, i) => manyEventId(atMs, i + 2));
};

const change = (where: string, set: string) => scene.admin.db.script(`update deliveries set ${set} where ${where}`);

describe('what is sent', () => {
  test('events from before the endpoint was there', async () => {
    const shop = await newcomer();
    const { id } = await shop.calls.made();
    await shop.calls.act(id, 'cancel');
    const endpoint = await shop.endpoint();
    expect(await shop.deliveries(endpoint)).toEqual([]);
    expectScheduled(await shop.replay(endpoint), 2);
    const events = (await shop.call('GET', '/events')).json.data;
    const ofPayments = events.filter(({ type }: { type: string }) => type !== 'account.security');
    expect(await shop.deliveries(endpoint)).toMatchObject(
      ofPayments.map((event: { id: string; type: string }) => ({
        eventId: event.id,
        type: event.type,
        endpointId: endpoint,
        status: 'scheduled',
        attempts: 0,
        nextAttemptAt: expect.any(String),
      })),
    );
  });

  test('those that were delivered, parked or are to be tried again, as if for the first time', async () => {
    const shop = await newcomer();
    const endpoint = await shop.endpoint();
    for (let i = 0; i < 3; i++) await shop.calls.made();
    const [done, parked, later] = await shop.deliveries(endpoint);
    const finished = 'attempts = 1, next_attempt_at = null, finished_at = now()';
    await change(`id = '${done.id}'`, `status = 'succeeded', ${finished}`);
    await change(`id = '${parked.id}'`, `status = 'parked', parked_reason = 'all failed', failures = 1, ${finished}`);
    await change(`id = '${later.id}'`, `failures = 1, attempts = 1, next_attempt_at = now() + interval '1 day'`);
    expectScheduled(await shop.replay(endpoint), 3);
    const due = { status: 'scheduled', attempts: 1, parkedReason: null, finishedAt: null };
    expect(await shop.deliveries(endpoint)).toMatchObject([done, parked, later].map(({ id }) => ({ id, ...due })));
    const rows = { name: '', text: `select failures, next_attempt_at <= now() + interval '1 second' as due
      from deliveries where endpoint_id = $1` }; // biome-ignore format: one statement
    expect(await scene.admin.db.query(rows, [endpoint])).toEqual(Array(3).fill({ failures: 0, due: true }));
  });

  test('only kinds that it has subscribed to, the oldest first', async () => {
    const shop = await newcomer();
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.push((await shop.calls.made()).id);
    for (const id of [ids[0]!, ids[2]!]) await shop.calls.act(id, 'cancel');
    const [some, none] = [
      await shop.endpoint(['payment.canceled', 'payment.late']),
      await shop.endpoint(['webhook.test']),
    ];
    expectScheduled(await shop.replay(some), 2);
    expectScheduled(await shop.replay(none), 0);
    expect((await shop.deliveries(some)).map(({ type }) => type)).toEqual(Array(2).fill('payment.canceled'));
    const every = await shop.endpoint();
    expectScheduled(await shop.replay(every), 6);
    const inOrder = {
      name: '',
      text: `select next_attempt_at as at from deliveries where endpoint_id = $1 order by event_id`,
    };
    const times = (await scene.admin.db.query<{ at: Date }>(inOrder, [every])).map(({ at }) => at.getTime());
    expect(times).toEqual([...times].sort());
  });

  test('nothing of another account or environment', async () => {
    const [shop, other] = [await newcomer(), await newcomer()];
    await other.calls.made();
    expectScheduled(await shop.replay(await shop.endpoint()), 0);
    const live = { key: shop.account.keys.production, environment: 'production' } as const;
    await shop.calls.made();
    const made = await scene.client.call('POST', '/v1/webhooks', { ...live, body: { url: 'https://shop.example/' } });
    const replayed = await scene.client.call('POST', `/v1/webhooks/${made.json.id}/replay`, { ...live, body: all });
    expectScheduled(replayed, 0);
  });

  test('one that is on its way at this moment, which whoever has it cannot keep it from', async () => {
    const shop = await newcomer();
    const endpoint = await shop.endpoint();
    for (let i = 0; i < 2; i++) await shop.calls.made();
    const [held, free] = await shop.deliveries(endpoint);
    const where = `endpoint_id = '${endpoint}'`;
    await change(`id = '${held.id}'`, `claim = 7, claimed_by = 'another', claimed_until = now() + interval '1 minute'`);
    expectScheduled(await shop.replay(endpoint), 2);
    const claims = {
      name: '',
      text: `select id, claim::int, claimed_by from deliveries where ${where} order by id desc`,
    };
    expect(await scene.admin.db.query(claims)).toEqual([
      { id: held.id, claim: 8, claimed_by: null },
      { id: free.id, claim: 1, claimed_by: null },
    ]);
  });
});

describe('the range', () => {
  test('includes its first and its last millisecond, and nothing beside', async () => {
    const shop = await newcomer();
    const noon = Date.parse('2026-01-31T12:00:00.000Z');
    const ids = await eventsAt(shop, [noon - 1, noon, noon + 1, noon + 2]);
    const range = { from: '2026-01-31T12:00:00.000Z', to: '2026-01-31T12:00:00.001Z' };
    const endpoint = await shop.endpoint();
    expectScheduled(await shop.replay(endpoint, range), 2);
    expect((await shop.deliveries(endpoint)).map(({ eventId }) => eventId)).toEqual([ids[2], ids[1]]);
    expectScheduled(await shop.replay(endpoint, { from: range.from, to: range.from }), 1);
    expectScheduled(await shop.replay(endpoint, { from: '2026-01-31', to: '2026-01-31' }), 4);
    expectScheduled(await shop.replay(endpoint, { from: '2026-01-31T13:00:00+01:00', to: '2026-01-31' }), 3);
    expectScheduled(await shop.replay(endpoint, { from: '1960-01-01', to: '1969-12-31' }), 0);
    expectScheduled(await shop.replay(endpoint, { from: '0001-01-01', to: '9999-12-31' }), 5);
  });

  test.each([
    ['no body', undefined, undefined],
    ['no start', { to: '2026-01-31' }, 'from'],
    ['no end', { from: '2026-01-31' }, 'to'],
    ['a start that is no time', { ...all, from: '2026-02-30' }, 'from'],
    ['an end that is no time', { ...all, to: 'tomorrow' }, 'to'],
    ['an empty end', { ...all, to: '' }, 'to'],
    ['a number', { ...all, from: 1769860800 }, 'from'],
    ['null', { ...all, to: null }, 'to'],
    ['a start later than the end', { from: '2026-02-01', to: '2026-01-31' }, 'from'],
    ['a field nobody knows', { ...all, type: 'payment.created' }, 'type'],
  ])('%s is refused', async (_name, range, param) => {
    const shop = await newcomer();
    await shop.calls.made();
    const endpoint = await shop.endpoint();
    // A direct call: the default argument of `replay` would replace a missing body.
    expectInvalid(await shop.call('POST', `/webhooks/${endpoint}/replay`, range), param);
    expect(await shop.deliveries(endpoint)).toEqual([]);
  });

  const written = async (shop: Newcomer, atMs: number, count: number, type = 'payment.stray'): Promise<void> => {
    const { id: paymentId } = await shop.calls.made();
    await writeManyEvents(scene.admin.db, { accountId: shop.account.id, paymentId, atMs, first: 2, count, type });
  };
  const noon = Date.parse('2026-01-31T12:00:00.000Z');
  const day = { from: '2026-01-31', to: '2026-01-31' };

  test('may hold thousands of events, each sent once, the oldest first', async () => {
    const shop = await newcomer();
    // In another order than that of the types, which are looked up one by one.
    await written(shop, noon, 1_000, 'payment.stray');
    await written(shop, noon + 1, 1_500, 'payment.detected');
    const endpoint = await shop.endpoint();
    for (const _ of ['new', 'again']) {
      expectScheduled(await shop.replay(endpoint, day), 2_500);
      const rows = {
        name: '',
        text: `select count(*)::int as all, count(distinct event_id)::int as events,
            bool_and(at >= before) as ordered from (
          select event_id, next_attempt_at as at, lag(next_attempt_at, 1, next_attempt_at) over (order by event_id) as before
          from deliveries where endpoint_id = $1 and status = 'scheduled') due`,
      };
      expect(await scene.admin.db.query(rows, [endpoint])).toEqual([{ all: 2_500, events: 2_500, ordered: true }]);
      await change(`endpoint_id = '${endpoint}'`, `status = 'succeeded', next_attempt_at = null, finished_at = now()`);
    }
  });

  test('holds 100,000 events at most: of one more none is sent', { tags: ['thorough'], timeout: 240_000 }, async () => {
    const shop = await newcomer();
    const endpoint = await shop.endpoint();
    await written(shop, noon, 100_000);
    await written(shop, noon + 1, 1);
    const refused = await shop.replay(endpoint, day);
    expectInvalid(refused, 'to');
    expect(refused.json.error.message).toContain('100,000');
    expect((await shop.deliveries(endpoint)).map(({ type }) => type)).toEqual(Array(2).fill('payment.created'));
    const only = await shop.endpoint(['payment.created']);
    expectScheduled(await shop.replay(only, all), 2);
    expectScheduled(await shop.replay(endpoint, { ...day, to: '2026-01-31T12:00:00.000Z' }), 100_000);
  });
});

describe('refusals', () => {
  test('a disabled endpoint is 409, also for a while after it with the same key', async () => {
    const shop = await newcomer();
    await shop.calls.made();
    const endpoint = await shop.endpoint();
    await shop.call('PATCH', `/webhooks/${endpoint}`, { status: 'disabled' });
    const headers = { 'idempotency-key': 'replay-1' };
    expectError(await shop.replay(endpoint, all, { headers }), 409, 'conflict');
    expect(await shop.deliveries(endpoint)).toEqual([]);
    await shop.call('PATCH', `/webhooks/${endpoint}`, { status: 'enabled' });
    expect((await shop.replay(endpoint, all, { headers })).status).toBe(409);
    expectScheduled(await shop.replay(endpoint), 1);
  });

  test('a deleted, unknown or foreign endpoint is 404', async () => {
    const [shop, other] = [await newcomer(), await newcomer()];
    const [endpoint, gone] = [await shop.endpoint(), await shop.endpoint()];
    await shop.call('DELETE', `/webhooks/${gone}`);
    for (const id of [gone, `we_${'0'.repeat(26)}`, 'we_none', '%00'])
      expectError(await shop.replay(id), 404, 'not_found');
    expectError(await shop.replay(endpoint, all, { by: other.account }), 404, 'not_found');
  });

  test('with an Idempotency-Key it is done once', async () => {
    const shop = await newcomer();
    const endpoint = await shop.endpoint();
    await shop.calls.made();
    const headers = { 'idempotency-key': 'replay-2' };
    const first = await shop.replay(endpoint, all, { headers });
    await change(`endpoint_id = '${endpoint}'`, `status = 'succeeded', next_attempt_at = null, finished_at = now()`);
    const second = await shop.replay(endpoint, all, { headers });
    expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    expect(await shop.deliveries(endpoint)).toMatchObject([{ status: 'succeeded' }]);
    expectError(await shop.replay(endpoint, { ...all, to: '2121-01-01' }, { headers }), 422, 'idempotency_mismatch');
  });
});
