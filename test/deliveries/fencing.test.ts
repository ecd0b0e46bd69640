import { beforeEach, describe, expect, test } from 'vitest';
import { createAttemptRecorder, writeAttempts } from '../../src/engine/webhooks/recordAttempts.ts';
import { readNow } from '../../src/storage/databaseClock.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  lookAtTargets,
  parkDeliveries,
  releaseDeliveries,
} from '../../src/storage/webhooks/deliveries.ts';
import { type AttemptRecord, recordAttempts } from '../../src/storage/webhooks/deliveryAttempts.ts';
import { until } from '../support/until.ts';
import { startDeliveryScene } from './deliveryScene.ts';
import { scene as idle, merchant, merchantPerTest } from './merchantPerTest.ts';

/** Nobody delivers here but the test. */
merchantPerTest({ roles: 'api,watch' });
let endpoint: { id: string };
beforeEach(async () => {
  endpoint = await merchant.endpoint('http://127.0.0.1:9/');
});

const db = () => idle.florin.admin.db;
const claim = async (holder: string, count = 1, since?: Date): Promise<ClaimedDelivery[]> => {
  const target = { accountId: merchant.account.id, environment: 'sandbox' as const, target: endpoint.id };
  const wanted = { ...target, first: count, retries: count };
  return claimDeliveries(db(), [wanted], { holder, seconds: 60, since: since ?? (await readNow(db())) });
};
const claimOne = async (holder: string): Promise<ClaimedDelivery> => {
  const [claimed] = await claim(holder);
  return claimed!;
};
/** The holder is too slow: its claim has run out. */
const expireClaims = () =>
  idle.sql(
    `update deliveries set claimed_until = clock_timestamp() - interval '1 second' where endpoint_id = $1`,
    endpoint.id,
  );

const attemptOf = (delivery: ClaimedDelivery, fields: Partial<AttemptRecord> = {}): AttemptRecord => ({
  accountId: delivery.accountId,
  environment: delivery.environment,
  deliveryId: delivery.id,
  claim: delivery.claim,
  atMs: Date.now(),
  url: delivery.url,
  signature: 'v1,x',
  statusCode: 200,
  error: null,
  durationMs: 1,
  response: Buffer.from(delivery.claim),
  status: 'succeeded',
  delayMs: null,
  parkedReason: null,
  gone: false,
  ...fields,
});
const failedOnce = { statusCode: 500, error: 'answered 500', status: 'scheduled', delayMs: 5_000 } as const;
const gone = { statusCode: 410, error: 'answered 410', status: 'parked', parkedReason: 'gone', gone: true } as const;
const stored = async () => {
  const text = `select status, attempts, failures::int, claim::text, claimed_by as holder, next_attempt_at as at
    from deliveries where endpoint_id = $1`;
  return (await idle.sql(text, endpoint.id))[0];
};

describe('a claim', () => {
  test('is of one holder alone, however many ask at the same time', async () => {
    await idle.backlog(merchant, endpoint, 300);
    const claims = await Promise.all(Array.from({ length: 8 }, (_, i) => claim(`holder ${i}`, 50)));
    const rest = await claim('last', 300);
    const ids = [...claims.flat(), ...rest].map(({ id }) => id);
    expect(ids).toHaveLength(300);
    expect(new Set(ids).size).toBe(300);
  });

  test('ends by itself, and another one takes over', async () => {
    await merchant.calls.made();
    const first = await claimOne('a');
    expect(await claim('b')).toEqual([]);
    await expireClaims();
    const second = await claimOne('b');
    expect([second.id, Number(second.claim) - Number(first.claim)]).toEqual([first.id, 1]);
  });

  test('of a holder that was killed is its own again when it is back, and not of another', async () => {
    await merchant.calls.made();
    const since = await readNow(db());
    const { id } = await claimOne('a');
    expect(await claim('b')).toEqual([]);
    expect(await claim('a', 1, since)).toEqual([]);
    expect(await claim('a')).toMatchObject([{ id, claim: '2' }]);
  });

  test('takes what is due alone, in the order in which it is', async () => {
    await idle.backlog(merchant, endpoint, 5);
    await idle.sql(
      `update deliveries d set next_attempt_at = clock_timestamp() - place * interval '1 minute' from (
        select id, row_number() over (order by id) - 2 as place from deliveries where endpoint_id = $1) o where d.id = o.id`,
      endpoint.id,
    );
    const order = (await idle.deliveries(endpoint))
      .filter(({ nextAttemptAt }) => nextAttemptAt!.getTime() <= Date.now())
      .toSorted((a, b) => a.nextAttemptAt!.getTime() - b.nextAttemptAt!.getTime());
    expect(order.length).toBeLessThan(5);
    expect((await claim('a', 2)).map(({ id }) => id).toSorted()).toEqual([order[0]!.id, order[1]!.id].toSorted());
    expect(await claim('b', 5)).toHaveLength(order.length - 2);
  });
});

test.each([
  ['disabled', `status = 'disabled'`, 'the endpoint is disabled'],
  ['deleted', 'deleted_at = clock_timestamp()', 'the endpoint was deleted'],
])('what is claimed for an endpoint that is %s is not to be sent', async (_, change, refusal) => {
  await merchant.calls.made();
  await idle.sql(`update webhook_endpoints set ${change} where id = $1`, endpoint.id);
  expect(await claim('a')).toMatchObject([{ refusal }]);
});

describe('whoever lost his claim', () => {
  test.each([
    ['a success', {}],
    ['a failure', failedOnce],
    ['410', gone],
  ])('may put on record that it had %s, and changes nothing else', async (_, fields) => {
    await merchant.calls.made();
    const late = await claimOne('a');
    await expireClaims();
    const current = await claimOne('b');
    const before = await stored();
    await recordAttempts(db(), [attemptOf(late, fields)]);
    expect(await stored()).toEqual({ ...before, attempts: 1 });
    expect(await idle.attempts(late.id)).toHaveLength(1);
    expect((await merchant.call('GET', `/webhooks/${endpoint.id}`)).json.status).toBe('enabled');

    await recordAttempts(db(), [attemptOf(current)]);
    const done = { status: 'succeeded', attempts: 2, failures: 0, holder: null, at: null };
    expect(await stored()).toMatchObject(done);
    expect(await idle.attempts(late.id)).toHaveLength(2);
  });

  test('cannot park it or give it back', async () => {
    await merchant.calls.made();
    const late = await claimOne('a');
    await expireClaims();
    await claimOne('b');
    const before = await stored();
    await parkDeliveries(db(), [{ ...late, reason: 'late' }]);
    await releaseDeliveries(db(), [late]);
    expect(await stored()).toEqual(before);
  });

  test('but whom nobody followed may still say what came of it', async () => {
    await merchant.calls.made();
    const late = await claimOne('a');
    await expireClaims();
    await recordAttempts(db(), [attemptOf(late)]);
    expect(await stored()).toMatchObject({ status: 'succeeded', attempts: 1, holder: null });
  });
});

describe('the same attempt recorded twice', () => {
  test('is written once and counts once', async () => {
    await merchant.calls.made();
    const attempt = attemptOf(await claimOne('a'), failedOnce);
    await recordAttempts(db(), [attempt]);
    const before = await stored();
    expect(before).toMatchObject({ status: 'scheduled', attempts: 1, failures: 1 });
    await recordAttempts(db(), [attempt]);
    expect(await stored()).toEqual(before);
    expect(await idle.attempts(attempt.deliveryId)).toHaveLength(1);
  });

  test('at the same moment, too', async () => {
    await merchant.calls.made();
    const attempt = attemptOf(await claimOne('a'), failedOnce);
    const recorders = Array.from({ length: 4 }, () => recordAttempts(db(), [attempt]));
    await Promise.all(recorders);
    expect(await stored()).toMatchObject({ attempts: 1, failures: 1 });
    expect(await idle.attempts(attempt.deliveryId)).toHaveLength(1);
  });
});

test('an attempt that the database refuses keeps no others from being written', async () => {
  await idle.backlog(merchant, endpoint, 30);
  const claimed = await claim('a', 30);
  const refused: unknown[] = [];
  const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => void refused.push(fields) };
  const recorder = createAttemptRecorder({ db: db(), log });
  const bad = claimed[7]!;
  for (const delivery of claimed) {
    recorder.add({
      delivery,
      atMs: Date.now(),
      signature: 'v1,x',
      verdict: { kind: 'succeeded' },
      outcome: {
        delivered: true,
        statusCode: 200,
        error: null,
        retryAfterMs: null,
        durationMs: 1,
        responseBody: Buffer.alloc(delivery === bad ? 16_385 : 1),
      },
    });
  }
  expect(recorder.pending()).toBe(30);
  await recorder.settled(60_000);
  expect(recorder.pending()).toBe(0);
  const rows = await idle.deliveries(endpoint);
  expect(rows.filter(({ status }) => status !== 'succeeded').map(({ id }) => id)).toEqual([bad.id]);
  expect(refused).toMatchObject([{ deliveryId: bad.id }]);
});

test('sending again while an attempt is in the air is not swallowed by its answer, which is on record', async () => {
  const scene = await startDeliveryScene();
  try {
    const shop = await scene.merchant();
    const receiver = await scene.receiver(() => {});
    const { id } = await shop.endpoint(receiver.url);
    const received = (count: number) =>
      until(
        async () => receiver.received.length,
        length => length === count,
      );
    await shop.calls.made();
    await received(1);
    const [row] = await scene.deliveries({ id });
    expect((await shop.call('POST', `/deliveries/${row!.id}/resend`)).status).toBe(200);
    await received(2);
    receiver.release(200);
    const done = await scene.untilDelivery({ id }, ({ status, attempts }) => status === 'succeeded' && attempts === 2);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([done.eventId]));
    expect((await scene.attempts(done.id)).map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  } finally {
    await scene.florin.stop();
  }
});

describe('a replay is not undone', () => {
  const replay = async () => {
    const range = { from: '2020-01-01', to: '2120-01-01' };
    const { status, json } = await merchant.call('POST', `/webhooks/${endpoint.id}/replay`, range);
    expect([status, json]).toEqual([200, { scheduled: 1 }]);
  };

  test('by a last attempt that was in the air and fails', async () => {
    await merchant.calls.made();
    const claimed = await claimOne('slow');
    await replay();
    const last = { ...failedOnce, status: 'parked', delayMs: null, parkedReason: 'all 6 attempts failed' } as const;
    await recordAttempts(db(), [attemptOf(claimed, last)]);
    expect(await stored()).toMatchObject({ status: 'scheduled', attempts: 1, failures: 0, holder: null });
    expect(await claim('next')).toHaveLength(1);
  });

  test('by one that found the endpoint disabled just before it was enabled', async () => {
    await merchant.calls.made();
    await merchant.call('PATCH', `/webhooks/${endpoint.id}`, { status: 'disabled' });
    const { refusal, ...claimed } = await claimOne('slow');
    expect(refusal).toBe('the endpoint is disabled');
    await merchant.call('PATCH', `/webhooks/${endpoint.id}`, { status: 'enabled' });
    await replay();
    await parkDeliveries(db(), [{ ...claimed, reason: refusal! }]);
    expect(await stored()).toMatchObject({ status: 'scheduled', holder: null });
  });
});

test('of failures that are written together, the latest is named as the reason why an endpoint is disabled', async () => {
  await idle.backlog(merchant, endpoint, 3);
  const text = `update webhook_endpoints set failing_since = clock_timestamp() - interval '6 days',
    failed_at = clock_timestamp() where id = $1`;
  await idle.sql(text, endpoint.id);
  const atMs = Date.now();
  const attempts = [
    { error: 'answered 503', atMs: atMs - 10 },
    { error: 'answered 500', atMs },
    { error: 'not sent', atMs: atMs + 10, signature: '' },
  ];
  const claimed = await claim('a', 3);
  const records = attempts.map((fields, i) => attemptOf(claimed[i]!, { ...failedOnce, ...fields }));
  const reason = 'Every attempt of the last five days failed; the last one: answered 500.';
  expect(await writeAttempts(db(), records)).toMatchObject([{ target: endpoint.id, reason }]);
});

test('whoever looks for what is due is told which endpoints have failed for long', async () => {
  const isFailing = async () => {
    const { due } = await lookAtTargets(db(), null, 1_000);
    return due.find(({ target }) => target === endpoint.id)?.failing;
  };
  await idle.backlog(merchant, endpoint, 2);
  expect(await isFailing()).toBe(false);
  for (const [ago, expected] of [
    ['59 minutes', false],
    ['61 minutes', true],
  ]) {
    const text = 'update webhook_endpoints set failing_since = clock_timestamp() - $2::interval where id = $1';
    await idle.sql(text, endpoint.id, ago);
    expect(await isFailing()).toBe(expected);
  }
});
