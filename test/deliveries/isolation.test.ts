import { describe, expect, test, vi } from 'vitest';
import { until } from '../support/until.ts';
import { merchant, merchantPerTest, scene } from './merchantPerTest.ts';
import { answering, eventOf, type Receiver } from './receiver.ts';

vi.setConfig({ testTimeout: 120_000 });

merchantPerTest();

/** Never answers. */
const silent: Receiver['answer'] = () => {};
/** Sends a byte now and then, for longer than the timeout. */
const dripping: Receiver['answer'] = response => {
  response.writeHead(200);
  const timer = setInterval(() => response.write('x'), 50);
  response.on('close', () => clearInterval(timer));
};

const endedAttempts = async (endpointIds: readonly string[]): Promise<number> =>
  (await scene.sql(`select sum(attempts)::int as n from deliveries where endpoint_id = any($1)`, endpointIds))[0].n;
const allSucceed = (endpoint: { id: string }, count: number) =>
  scene.untilDeliveries(endpoint, rows => rows.length === count && rows.every(({ status }) => status === 'succeeded'));
const holds = (receiver: Receiver, count: number) =>
  until(
    async () => receiver.received.length,
    all => all >= count,
  );

describe('one who is slow or dead delays nobody', () => {
  test('a live receiver has all its events before any attempt at those that hang has ended', async () => {
    const [hanging, slow, failing, gone, live] = [
      await scene.receiver(silent),
      await scene.receiver(dripping),
      await scene.receiver(answering(500)),
      await scene.receiver(),
      await scene.receiver(),
    ];
    await gone.close();
    const bad = [await merchant.endpoint(hanging.url), await merchant.endpoint(slow.url)];
    const refused = [await merchant.endpoint(failing.url), await merchant.endpoint(gone.url)];
    const good = await merchant.endpoint(live.url);
    const payments = 40;
    await Promise.all(Array.from({ length: payments }, () => merchant.calls.made()));
    await allSucceed(good, payments);
    expect(live.received).toHaveLength(payments);
    await holds(hanging, 4);
    await holds(slow, 4);
    expect(await endedAttempts(bad.map(({ id }) => id))).toBe(0);
    for (const { id } of refused) {
      const rows = await scene.deliveries({ id });
      expect(rows).toHaveLength(payments);
      expect(rows.every(({ status }) => status === 'scheduled')).toBe(true);
    }
    // Events for the healthy endpoint keep arriving while all others wait.
    await merchant.calls.made();
    await allSucceed(good, payments + 1);
    expect(await endedAttempts(bad.map(({ id }) => id))).toBe(0);
    expect(hanging.most()).toBeLessThanOrEqual(4);
  });

  test('nor do many of them at once, though nothing is known of the live one yet', { tags: ['thorough'] }, async () => {
    const [hanging, live] = [await scene.receiver(silent), await scene.receiver()];
    const crowd = [merchant, await scene.merchant()];
    const endpoints = await Promise.all(
      crowd.flatMap(each => Array.from({ length: 49 }, (_, i) => each.endpoint(`${hanging.url}/${i}`))),
    );
    for (const each of crowd) await Promise.all(Array.from({ length: 4 }, () => each.calls.made()));
    await holds(hanging, 200);
    const newcomer = await scene.merchant();
    const good = await newcomer.endpoint(live.url);
    await Promise.all(Array.from({ length: 20 }, () => newcomer.calls.made()));
    await allSucceed(good, 20);
    expect(await endedAttempts(endpoints.map(({ id }) => id))).toBe(0);
  });

  test("a backlog of retries that hang does not hold up an endpoint's newer events", async () => {
    const receiver = await scene.receiver((response, received) => {
      // The events of the backlog belong to no payment.
      if (eventOf(received).data !== undefined) response.end();
    });
    const endpoint = await merchant.endpoint(receiver.url);
    await scene.backlog(merchant, endpoint, 300, 2);
    await holds(receiver, 1);
    const payments = await Promise.all(Array.from({ length: 10 }, () => merchant.calls.made()));
    for (const payment of payments) await scene.untilDelivery(payment, ({ status }) => status === 'succeeded');
    const rows = await scene.deliveries(endpoint);
    expect(rows.filter(({ type }) => type === 'webhook.test').every(({ attempts }) => attempts === 0)).toBe(true);
  });
});

describe('what is sent to one target at a time', () => {
  test('is bounded, and more where it answers fast', async () => {
    const receiver = await scene.receiver(response => void setTimeout(() => response.end(), 20));
    const endpoint = await merchant.endpoint(receiver.url);
    await scene.backlog(merchant, endpoint, 1_500);
    await allSucceed(endpoint, 1_500);
    expect(receiver.received).toHaveLength(1_500);
    expect(receiver.most()).toBeGreaterThan(4);
    expect(receiver.most()).toBeLessThanOrEqual(64);
  });

  test('is what is claimed for it when it hangs: others may have the rest', async () => {
    const receiver = await scene.receiver();
    const endpoint = await merchant.endpoint(receiver.url);
    await scene.backlog(merchant, endpoint, 60);
    await allSucceed(endpoint, 60);
    receiver.answer = silent;
    await scene.backlog(merchant, endpoint, 300);
    const rows = await scene.untilDeliveries(endpoint, all => {
      const claimed = all.filter(({ isClaimed }) => isClaimed).length;
      return claimed > 0 && claimed === receiver.received.length - 60;
    });
    expect(rows.filter(({ attempts }) => attempts > 0)).toHaveLength(60);
    expect(receiver.most()).toBeLessThanOrEqual(64);
  });

  test('is little while nothing is known of it', async () => {
    const receiver = await scene.receiver(silent);
    const endpoint = await merchant.endpoint(receiver.url);
    await scene.backlog(merchant, endpoint, 100);
    await holds(receiver, 4);
    const other = await scene.receiver();
    const barrier = await merchant.endpoint(other.url);
    await scene.backlog(merchant, barrier, 100);
    await allSucceed(barrier, 100);
    expect(receiver.received).toHaveLength(4);
  });
});

describe('a dead endpoint with much scheduled', () => {
  test('is probed with pauses, and drains when it is back', { tags: ['thorough'] }, async () => {
    const receiver = await scene.receiver(answering(503));
    const endpoint = await merchant.endpoint(receiver.url);
    await scene.backlog(merchant, endpoint, 500, 1);
    await holds(receiver, 6);
    const attempts: { at: Date; durationMs: number }[] = await scene.sql(
      `select a.at, a.duration_ms as "durationMs" from delivery_attempts a join deliveries d on d.id = a.delivery_id
        where d.endpoint_id = $1 order by a.at`,
      endpoint.id,
    );
    // The first three are no probes yet.
    const gaps = attempts.slice(2).map(({ at }, i) => at.getTime() - attempts[i + 1]!.at.getTime());
    expect(gaps.slice(1).length).toBeGreaterThan(0);
    for (const gapMs of gaps.slice(1)) expect(gapMs).toBeGreaterThanOrEqual(990);
    expect(receiver.most()).toBe(1);

    receiver.answer = answering(200);
    await scene.untilDeliveries(endpoint, rows => rows.filter(({ status }) => status === 'succeeded').length >= 490);
    await scene.makeDue(endpoint);
    await allSucceed(endpoint, 500);
    expect(receiver.received.length).toBeLessThan(500 + 12);
  });
});
