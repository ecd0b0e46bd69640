import { describe, expect, test, vi } from 'vitest';
import { eventually, until } from '../support/until.ts';
import type { DeliveryRow } from './deliveryScene.ts';
import { merchant, merchantPerTest, scene } from './merchantPerTest.ts';
import { answering, type Receiver } from './receiver.ts';

vi.setConfig({ testTimeout: 120_000 });

merchantPerTest();

const endpointOf = async (id: string) => (await merchant.call('GET', `/webhooks/${id}`)).json;
const failingSince = async (id: string): Promise<Date | null> =>
  (await scene.sql('select failing_since as since from webhook_endpoints where id = $1', id))[0].since;
/** An endpoint is written after the attempt that it follows from. */
const untilFailing = (id: string, isFailing: boolean) =>
  until(
    () => failingSince(id),
    since => (since !== null) === isFailing,
  );
const failedSince = (id: string, ago: string) =>
  scene.sql(
    `update webhook_endpoints set failing_since = clock_timestamp() - $2::interval where id = $1 and failing_since is not null
      returning 1`,
    id,
    ago,
  );
const isOver = (rows: readonly DeliveryRow[]): boolean => rows.every(({ status }) => status !== 'scheduled');
/** Nothing is left to send, and every request sent is recorded. */
const expectNoMore = (rows: readonly DeliveryRow[], receiver: Receiver): void => {
  expect(isOver(rows)).toBe(true);
  expect(receiver.received).toHaveLength(rows.reduce((sum, { attempts }) => sum + attempts, 0));
};

/** An endpoint with this many deliveries, each of which has failed once and waits for its retry. */
const withRetries = async (count: number) => {
  const receiver = await scene.receiver(answering(500));
  const endpoint = await merchant.endpoint(receiver.url);
  for (let i = 0; i < count; i++) await merchant.calls.made();
  await scene.untilDeliveries(
    endpoint,
    rows => rows.length === count && rows.every(({ failures, isClaimed }) => failures === 1 && !isClaimed),
  );
  await untilFailing(endpoint.id, true);
  // Not due before the test says so.
  await scene.sql(
    `update deliveries set next_attempt_at = clock_timestamp() + interval '1 hour' where endpoint_id = $1`,
    endpoint.id,
  );
  return { receiver, endpoint };
};

describe('410', () => {
  test('disables the endpoint with the reason, and parks what is left', async () => {
    const { receiver, endpoint } = await withRetries(3);
    receiver.answer = answering(410);
    const [first] = (await scene.deliveries(endpoint)) as [DeliveryRow];
    await scene.makeDue({ id: first.id });
    const disabledReason = 'The receiver answered 410 (gone).';
    await until(
      () => endpointOf(endpoint.id),
      ({ status }) => status === 'disabled',
    );
    expect(await endpointOf(endpoint.id)).toMatchObject({ status: 'disabled', disabledReason });
    const rows = await scene.untilDeliveries(endpoint, isOver);
    expect(rows.map(({ status, parkedReason, attempts }) => ({ status, parkedReason, attempts }))).toEqual([
      { status: 'parked', parkedReason: 'answered 410 (gone)', attempts: 2 },
      { status: 'parked', parkedReason: 'the endpoint is disabled', attempts: 1 },
      { status: 'parked', parkedReason: 'the endpoint is disabled', attempts: 1 },
    ]);
    await merchant.calls.made();
    expectNoMore(await scene.deliveries(endpoint), receiver);
    const refused = await merchant.call('POST', `/deliveries/${rows[1]!.id}/resend`);
    expect([refused.status, refused.json.error.code]).toEqual([409, 'conflict']);
  });

  test('ends it for all that are due as well', async () => {
    const receiver = await scene.receiver(answering(410));
    const endpoint = await merchant.endpoint(receiver.url);
    await scene.backlog(merchant, endpoint, 1_200);
    const rows = await scene.untilDeliveries(endpoint, isOver);
    expect(rows).toHaveLength(1_200);
    expectNoMore(rows, receiver);
    expect(receiver.received.length).toBeLessThan(20);
  });

  test('ends it for what was claimed and has not been sent', async () => {
    const receiver = await scene.receiver();
    const endpoint = await merchant.endpoint(receiver.url);
    await scene.backlog(merchant, endpoint, 40);
    await scene.untilDeliveries(endpoint, rows => rows.length === 40 && isOver(rows));
    let isGone = false;
    receiver.answer = response => {
      if (isGone) return;
      isGone = true;
      response.writeHead(410).end();
    };
    await scene.backlog(merchant, endpoint, 200);
    await until(
      () => endpointOf(endpoint.id),
      ({ status }) => status === 'disabled',
    );
    // The limit is four at first, plus one per success. Running attempts may arrive after the answer to the first.
    const sent = 40 + 44;
    await eventually(() => expect(receiver.received).toHaveLength(sent));
    // Each of these frees a slot.
    receiver.release(200);
    receiver.answer = answering(200);
    const rows = await scene.untilDeliveries(endpoint, all => all.length === 240 && isOver(all));
    expectNoMore(rows, receiver);
    expect(receiver.received).toHaveLength(sent);
  });
});

describe('five days of failures', () => {
  test('disable the endpoint, with the reason and the last error', async () => {
    const { receiver, endpoint } = await withRetries(2);
    expect(await failedSince(endpoint.id, '4 days 23 hours')).toHaveLength(1);
    const [first] = (await scene.deliveries(endpoint)) as [DeliveryRow];
    await scene.makeDue({ id: first.id });
    await scene.untilDelivery({ id: first.id }, ({ failures }) => failures === 2);
    expect((await endpointOf(endpoint.id)).status).toBe('enabled');

    expect(await failedSince(endpoint.id, '5 days')).toHaveLength(1);
    await scene.makeDue({ id: first.id });
    const rows = await scene.untilDeliveries(endpoint, isOver);
    const disabledReason = 'Every attempt of the last five days failed; the last one: answered 500.';
    expect(await endpointOf(endpoint.id)).toMatchObject({ status: 'disabled', disabledReason });
    expect(rows.map(({ parkedReason }) => parkedReason)).toEqual(Array(2).fill('the endpoint is disabled'));
    expectNoMore(rows, receiver);
  });

  test('are not made of attempts that we could not sign', { tags: ['thorough'] }, async () => {
    const { receiver, endpoint } = await withRetries(4);
    await failedSince(endpoint.id, '6 days');
    const [{ secret }] = await scene.sql('select secret from webhook_endpoints where id = $1', endpoint.id);
    const keep = (sealed: Buffer) =>
      scene.florin.admin.db.query({ name: '', text: 'update webhook_endpoints set secret = $2 where id = $1' }, [
        endpoint.id,
        sealed,
      ]);
    await keep(Buffer.alloc(secret.length));
    await scene.makeDue(endpoint);
    const rows = await scene.untilDeliveries(endpoint, all => all.every(({ failures }) => failures === 2));
    const unsent = { statusCode: null, error: 'the signing secret could not be decrypted' };
    expect((await scene.attempts(rows[0]!.id)).at(-1)).toMatchObject(unsent);
    expect(await endpointOf(endpoint.id)).toMatchObject({ status: 'enabled', disabledReason: null });
    expect(receiver.received).toHaveLength(4);

    await keep(secret);
    await scene.makeDue({ id: rows[0]!.id });
    await until(
      () => endpointOf(endpoint.id),
      ({ status }) => status === 'disabled',
    );
    expect(receiver.received).toHaveLength(5);
  });

  test('do not begin with an attempt that we could not sign', async () => {
    const receiver = await scene.receiver();
    const endpoint = await merchant.endpoint(receiver.url);
    // With a seal, so that nothing but the encryption is in the way.
    await scene.florin.admin.db.script(`update webhook_endpoints set secret = '\\x00' where id = '${endpoint.id}'`);
    await merchant.calls.made();
    await scene.untilDelivery(endpoint, ({ failures }) => failures === 1);
    // Attempts are written one after the other, so all that follows from the first is there with the second.
    await scene.makeDue(endpoint);
    await scene.untilDelivery(endpoint, ({ failures }) => failures === 2);
    expect(await failingSince(endpoint.id)).toBeNull();
  });

  test('are counted from the last success on', { tags: ['thorough'] }, async () => {
    const { receiver, endpoint } = await withRetries(2);
    await failedSince(endpoint.id, '6 days');
    receiver.answer = answering(200);
    const [first, second] = (await scene.deliveries(endpoint)) as [DeliveryRow, DeliveryRow];
    await scene.makeDue({ id: first.id });
    await scene.untilDelivery({ id: first.id }, ({ status }) => status === 'succeeded');
    await untilFailing(endpoint.id, false);
    receiver.answer = answering(500);
    await scene.makeDue({ id: second.id });
    await scene.untilDelivery({ id: second.id }, ({ failures }) => failures === 2);
    await untilFailing(endpoint.id, true);
    expect(await endpointOf(endpoint.id)).toMatchObject({ status: 'enabled', disabledReason: null });
    expect(await failedSince(endpoint.id, '1 day')).toHaveLength(1);
  });

  test('are not five days in which nothing was sent', { tags: ['thorough'] }, async () => {
    const { endpoint } = await withRetries(3);
    const [first, second, third] = (await scene.deliveries(endpoint)) as [DeliveryRow, DeliveryRow, DeliveryRow];
    const lastFailed = (ago: string) =>
      scene.sql(
        'update webhook_endpoints set failed_at = clock_timestamp() - $2::interval where id = $1',
        endpoint.id,
        ago,
      );
    const failAgain = async ({ id }: DeliveryRow) => {
      await scene.makeDue({ id });
      await scene.untilDelivery({ id }, ({ failures, status }) => failures === 2 || status === 'parked');
      return (await endpointOf(endpoint.id)).status;
    };
    await failedSince(endpoint.id, '6 days');
    await lastFailed('50 hours');
    expect(await failAgain(first)).toBe('enabled');
    // The failure counts from here: a day later it is still the same one, and after five days the endpoint is disabled.
    await failedSince(endpoint.id, '4 days');
    await lastFailed('30 hours');
    expect(await failAgain(second)).toBe('enabled');
    expect(await failedSince(endpoint.id, '5 days')).toHaveLength(1);
    await lastFailed('30 hours');
    await scene.makeDue(third);
    await scene.untilDeliveries(endpoint, isOver);
    expect((await endpointOf(endpoint.id)).status).toBe('disabled');
  });

  test('of an address are forgotten when the endpoint has another one', async () => {
    const { endpoint } = await withRetries(1);
    await failedSince(endpoint.id, '6 days');
    const other = await scene.receiver(answering(500));
    await merchant.call('PATCH', `/webhooks/${endpoint.id}`, { url: other.url });
    await scene.makeDue(endpoint);
    await scene.untilDelivery(endpoint, ({ failures }) => failures === 2);
    expect(await endpointOf(endpoint.id)).toMatchObject({ status: 'enabled', url: other.url });
    expect(other.received).toHaveLength(1);
  });
});

describe('an endpoint that is enabled again', () => {
  test('starts afresh: new events arrive, old failures do not count, what was parked can be sent again', async () => {
    const { receiver, endpoint } = await withRetries(1);
    await failedSince(endpoint.id, '6 days');
    await scene.makeDue(endpoint);
    const [parked] = (await scene.untilDeliveries(endpoint, isOver)) as [DeliveryRow];
    const enabled = await merchant.call('PATCH', `/webhooks/${endpoint.id}`, { status: 'enabled' });
    expect(enabled.json).toMatchObject({ status: 'enabled', disabledReason: null });
    expect(await failingSince(endpoint.id)).toBeNull();

    const payment = await merchant.calls.made();
    await scene.untilDelivery(payment, ({ failures }) => failures === 1);
    expect((await endpointOf(endpoint.id)).status).toBe('enabled');
    receiver.answer = answering(200);
    await merchant.call('POST', `/deliveries/${parked.id}/resend`);
    await scene.makeDue(payment);
    await scene.untilDeliveries(endpoint, rows => rows.every(({ status }) => status === 'succeeded'));
  });
});

describe('an endpoint that the merchant ends', () => {
  test.each([
    ['disabling', 'PATCH', { status: 'disabled' }, 'the endpoint is disabled'],
    ['deleting', 'DELETE', undefined, 'the endpoint was deleted'],
  ] as const)('%s parks what is scheduled, due or not, for all to see', async (_, method, body, parkedReason) => {
    const { receiver, endpoint } = await withRetries(2);
    const before = receiver.received.length;
    const answer = await merchant.call(method, `/webhooks/${endpoint.id}`, body);
    expect(answer.status, answer.text).toBe(200);
    const rows = await scene.untilDeliveries(endpoint, isOver);
    expect(rows.map(row => [row.status, row.parkedReason, row.nextAttemptAt])).toEqual(
      Array(2).fill(['parked', parkedReason, null]),
    );
    const { json } = await merchant.call('GET', `/events/${rows[0]!.eventId}/deliveries`);
    expect(json.data).toMatchObject([{ endpointId: endpoint.id, status: 'parked', parkedReason }]);
    await merchant.calls.made();
    expectNoMore(await scene.deliveries(endpoint), receiver);
    expect(receiver.received).toHaveLength(before);
  });

  test('and whose attempt in the air fails after that has its delivery parked', async () => {
    const receiver = await scene.receiver(() => {});
    const endpoint = await merchant.endpoint(receiver.url);
    await merchant.calls.made();
    await until(
      async () => receiver.received.length,
      count => count === 1,
    );
    await merchant.call('DELETE', `/webhooks/${endpoint.id}`);
    receiver.release(500);
    const row = await scene.untilDelivery(endpoint, ({ status }) => status === 'parked');
    expect(row).toMatchObject({ attempts: 1, parkedReason: 'the endpoint was deleted' });
  });
});

test('410 of an address that the endpoint has no more disables nothing', async () => {
  const [old, fresh] = [await scene.receiver(() => {}), await scene.receiver()];
  const endpoint = await merchant.endpoint(old.url);
  await merchant.calls.made();
  await until(
    async () => old.received.length,
    count => count === 1,
  );
  await merchant.call('PATCH', `/webhooks/${endpoint.id}`, { url: fresh.url });
  old.release(410);
  await scene.untilDelivery(endpoint, ({ status }) => status === 'parked');
  expect(await endpointOf(endpoint.id)).toMatchObject({ status: 'enabled', disabledReason: null });
  const payment = await merchant.calls.made();
  await scene.untilDelivery(payment, ({ status }) => status === 'succeeded');
});
