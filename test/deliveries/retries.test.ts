import { describe, expect, test, vi } from 'vitest';
import type { DeliveryRow } from './deliveryScene.ts';
import { merchant, merchantPerTest, scene } from './merchantPerTest.ts';
import { answering, type Receiver } from './receiver.ts';

// A receiver that keeps failing is probed with growing pauses.
vi.setConfig({ testTimeout: 120_000 });

merchantPerTest();

/** An endpoint with one delivery. */
const begin = async (answer: Receiver['answer']) => {
  const receiver = await scene.receiver(answer);
  const { id } = await merchant.endpoint(receiver.url);
  await merchant.calls.made();
  return { id, receiver };
};
const failedTimes =
  (failures: number) =>
  (row: DeliveryRow): boolean =>
    row.failures === failures && !row.isClaimed;

/** The next attempt follows the latest one, which is over by now, no sooner and no later than this. */
const expectWait = async (row: DeliveryRow, leastMs: number, mostMs: number): Promise<void> => {
  const { at, durationMs } = (await scene.attempts(row.id)).at(-1)!;
  const [{ now }] = await scene.sql('select clock_timestamp() as now');
  // Durations are rounded.
  expect(row.nextAttemptAt!.getTime()).toBeGreaterThanOrEqual(at.getTime() + durationMs + leastMs - 2);
  expect(row.nextAttemptAt!.getTime()).toBeLessThanOrEqual(now.getTime() + mostMs);
};

type Act = (endpointId: string, deliveryId: string) => [method: string, path: string, body: object];

/** What a merchant does after fixing the receiver. */
const mending: [string, Act][] = [
  ['a resend', (_, id) => ['POST', `/deliveries/${id}/resend`, {}]],
  [
    'a replay',
    id => ['POST', `/webhooks/${id}/replay`, { from: '2026-01-01T00:00:00Z', to: new Date().toISOString() }],
  ],
  ['enabling the endpoint', id => ['PATCH', `/webhooks/${id}`, { status: 'enabled' }]],
];

test.each(mending)(
  '%s does not wait until the pause of a receiver that fails is over',
  { tags: ['thorough'] },
  async (_, act) => {
    const arrivedMs: number[] = [];
    const receiver = await scene.receiver(response => {
      arrivedMs.push(performance.now());
      response.writeHead(500).end();
    });
    const endpoint = await merchant.endpoint(receiver.url);
    await scene.backlog(merchant, endpoint, 20);
    // After a pause of four seconds comes one of eight.
    const rows = await scene.untilDeliveries(
      endpoint,
      all =>
        arrivedMs.some((atMs, i) => atMs - arrivedMs[i - 1]! > 3_500) &&
        all.reduce((sum, { attempts }) => sum + attempts, 0) === arrivedMs.length,
    );
    receiver.answer = answering(200);
    const askedMs = performance.now();
    const [method, path, body] = act(endpoint.id, rows[0]!.id);
    expect((await merchant.call(method, path, body)).status).toBe(200);
    await scene.untilDeliveries(endpoint, all => all.some(({ status }) => status === 'succeeded'));
    expect(performance.now() - askedMs).toBeLessThan(4_000);
  },
);

describe('a delivery that fails', () => {
  test('is scheduled again step by step, and parked with the reason when all attempts are used up', {
    tags: ['thorough'],
  }, async () => {
    const { id, receiver } = await begin(answering(500, {}, 'out of order'));
    const delaysMs = [5_000, 15_000, 60_000, 300_000, 900_000];
    for (const [i, delayMs] of delaysMs.entries()) {
      const row = await scene.untilDelivery({ id }, failedTimes(i + 1));
      expect(row).toMatchObject({ status: 'scheduled', attempts: i + 1, parkedReason: null });
      await expectWait(row, delayMs * 0.8, delayMs * 1.2);
      await scene.makeDue({ id });
    }
    const parked = await scene.untilDelivery({ id }, ({ status }) => status === 'parked');
    const parkedReason = '6 attempts in a row failed; the last: answered 500';
    expect(parked).toMatchObject({ attempts: 6, failures: 6, nextAttemptAt: null, isClaimed: false, parkedReason });
    expect(receiver.received).toHaveLength(6);
    expect(await scene.attempts(parked.id)).toMatchObject(
      Array(6).fill({ statusCode: 500, error: 'answered 500', response: Buffer.from('out of order') }),
    );
    const shown = (await merchant.call('GET', `/deliveries/${parked.id}`)).json;
    expect(shown).toMatchObject({ status: 'parked', attempts: 6, nextAttemptAt: null, parkedReason });
    expect(shown.log).toHaveLength(6);
  });

  test('waits as long as the receiver asks, where that is longer', async () => {
    const { id, receiver } = await begin(answering(503, { 'retry-after': '3600' }));
    await expectWait(await scene.untilDelivery({ id }, failedTimes(1)), 3_600_000, 3_600_000);
    receiver.answer = answering(429, { 'retry-after': '1' });
    await scene.makeDue({ id });
    await expectWait(await scene.untilDelivery({ id }, failedTimes(2)), 12_000, 18_000);
    receiver.answer = answering(429, { 'retry-after': '999999999' });
    await scene.makeDue({ id });
    await expectWait(await scene.untilDelivery({ id }, failedTimes(3)), 86_400_000, 86_400_000);
  });

  test('and then succeeds is done, and starts over when it is sent again', async () => {
    const { id, receiver } = await begin(answering(500));
    await scene.untilDelivery({ id }, failedTimes(1));
    await scene.makeDue({ id });
    await scene.untilDelivery({ id }, failedTimes(2));
    receiver.answer = answering(200);
    await scene.makeDue({ id });
    const done = await scene.untilDelivery({ id }, ({ status }) => status === 'succeeded');
    expect(done).toMatchObject({ attempts: 3, failures: 0, nextAttemptAt: null, parkedReason: null, isClaimed: false });

    receiver.answer = answering(500);
    const resent = await merchant.call('POST', `/deliveries/${done.id}/resend`);
    expect(resent.json, resent.text).toMatchObject({ id: done.id, status: 'scheduled', finishedAt: null });
    const again = await scene.untilDelivery({ id }, failedTimes(1));
    expect(again).toMatchObject({ status: 'scheduled', attempts: 4 });
    await expectWait(again, 4_000, 6_000);
  });

  test('is tried as often again when it was parked and is sent again', async () => {
    const { id, receiver } = await begin(answering(500));
    await scene.untilDelivery({ id }, failedTimes(1));
    await scene.sql(`update deliveries set failures = 5 where endpoint_id = $1`, id);
    await scene.makeDue({ id });
    const parked = await scene.untilDelivery({ id }, ({ status }) => status === 'parked');
    receiver.answer = answering(200);
    await merchant.call('POST', `/deliveries/${parked.id}/resend`);
    const done = await scene.untilDelivery({ id }, ({ status }) => status === 'succeeded');
    expect(done).toMatchObject({ parkedReason: null, attempts: 3 });
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([done.eventId]));
  });
});

describe('what counts as a failure', () => {
  test.each([
    ['a redirect', answering(302, { location: 'http://127.0.0.1:9/' }), 302, /redirects are not followed/],
    ['a hang-up', (response: Parameters<Receiver['answer']>[0]) => void response.socket!.destroy(), null, /closed/],
    ['no success', answering(404), 404, /404/],
  ] as const)('%s', async (_, answer, statusCode, error) => {
    const { id } = await begin(answer);
    const row = await scene.untilDelivery({ id }, failedTimes(1));
    expect(row.status).toBe('scheduled');
    expect(await scene.attempts(row.id)).toMatchObject([{ statusCode, error: expect.stringMatching(error) }]);
  });

  test.each([200, 201, 202, 204, 299])('not %i', async statusCode => {
    const { id } = await begin(answering(statusCode));
    const row = await scene.untilDelivery({ id }, ({ status }) => status === 'succeeded');
    expect(await scene.attempts(row.id)).toMatchObject([{ statusCode, error: null }]);
  });
});
