import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import type { DeliveryRow } from './deliveryScene.ts';
import { merchant, merchantPerTest, scene } from './merchantPerTest.ts';
import { answering, type Receiver } from './receiver.ts';

vi.setConfig({ testTimeout: 120_000 });

let alarms: { fields: object; message: string }[] = [];
const log: Log = {
  debug() {},
  info() {},
  warn() {},
  error: (fields, message) => void alarms.push({ fields, message }),
};
merchantPerTest({ log });

let receiver: Receiver;
let thief: Receiver;
beforeEach(async () => {
  alarms = [];
  receiver = await scene.receiver(answering(500));
  thief = await scene.receiver();
});

/** As the owner of the database, past the triggers. */
const tamper = (sql: string): Promise<void> =>
  scene.florin.tamper(`begin; set local session_replication_role = replica; ${sql}; commit`);

/** A payment whose first callback failed, and waits for its next attempt. */
const waiting = async (): Promise<{ payment: { id: string }; delivery: DeliveryRow }> => {
  const payment = await merchant.calls.made({ callbackUrl: receiver.url });
  const delivery = await scene.untilDelivery(payment, ({ failures, isClaimed }) => failures === 1 && !isClaimed);
  receiver.answer = answering(200);
  receiver.received.length = 0;
  return { payment, delivery };
};

const untilParked = (of: { id: string }): Promise<DeliveryRow> =>
  scene.untilDelivery(of, ({ status }) => status === 'parked');

describe('nothing is sent of what Florin did not write', () => {
  test.each([
    ['the body', `body = replace(body, '"pending"', '"completed"')`],
    ['the time', `created_at = created_at - interval '1 day'`],
    ['the seal', 'row_seal = null'],
  ])('an event: %s', async (_, assignment) => {
    const { payment, delivery } = await waiting();
    await tamper(`update events set ${assignment} where id = '${delivery.eventId}'`);
    await scene.makeDue(payment);
    expect(await untilParked(payment)).toMatchObject({ parkedReason: 'the event was changed in the database' });
    expect(receiver.received).toEqual([]);
    expect(alarms).toEqual([
      { fields: expect.objectContaining({ eventId: delivery.eventId }), message: 'an event does not match its seal' },
    ]);
  });

  test('a callback with another address', async () => {
    const { payment, delivery } = await waiting();
    await tamper(`update deliveries set callback_url = '${thief.url}' where id = '${delivery.id}'`);
    await scene.makeDue(payment);
    expect(await untilParked(payment)).toMatchObject({ parkedReason: 'the callback was changed in the database' });
    expect([...receiver.received, ...thief.received]).toEqual([]);
    expect(alarms).toEqual([
      { fields: expect.objectContaining({ deliveryId: delivery.id }), message: 'a callback does not match its seal' },
    ]);
  });

  test('a callback that somebody inserted, for a genuine event, with the seal of another callback', async () => {
    const { delivery } = await waiting();
    const quiet = await merchant.calls.made();
    await tamper(`insert into deliveries (account_id, environment, id, event_id, callback_url, next_attempt_at, created_at,
        row_seal)
      select e.account_id, e.environment, delivery_id(e.id, 'callback'), e.id, '${thief.url}', now(), now(), d.row_seal
      from events e, deliveries d where e.payment_id = '${quiet.id}' and d.id = '${delivery.id}'`);
    expect(await untilParked(quiet)).toMatchObject({ parkedReason: 'the callback was changed in the database' });
    expect(thief.received).toEqual([]);
  });

  test('an event that somebody inserted for an endpoint; the others of the endpoint are sent', async () => {
    const endpoint = await merchant.endpoint(thief.url);
    const id = `evt_${'0'.repeat(26)}`;
    await tamper(`insert into events (account_id, environment, id, type, body, created_at)
        values ('${merchant.account.id}', 'sandbox', '${id}', 'webhook.test', '{"forged":true}', now());
      insert into deliveries (account_id, environment, id, event_id, endpoint_id, next_attempt_at, created_at)
        values ('${merchant.account.id}', 'sandbox', delivery_id('${id}', '${endpoint.id}'), '${id}', '${endpoint.id}',
          now(), now())`);
    await scene.backlog(merchant, endpoint, 20);
    const rows = await scene.untilDeliveries(endpoint, all => all.every(({ status }) => status !== 'scheduled'));
    expect(rows.filter(({ status }) => status === 'succeeded')).toHaveLength(20);
    expect(rows.filter(({ status }) => status === 'parked')).toMatchObject([{ eventId: id }]);
    expect(thief.received).toHaveLength(20);
    expect(thief.events().some(event => 'forged' in event)).toBe(false);
  });

  test('an event that somebody copied to another account', async () => {
    const { delivery } = await waiting();
    const other = await scene.merchant();
    const endpoint = await other.endpoint(thief.url);
    await tamper(`insert into events select r.* from events e,
        jsonb_populate_record(null::events, to_jsonb(e) || jsonb_build_object('account_id', '${other.account.id}')) r
        where e.id = '${delivery.eventId}';
      insert into deliveries (account_id, environment, id, event_id, endpoint_id, next_attempt_at, created_at)
        values ('${other.account.id}', 'sandbox', delivery_id('${delivery.eventId}', '${endpoint.id}'),
          '${delivery.eventId}', '${endpoint.id}', now(), now())`);
    expect(await untilParked(endpoint)).toMatchObject({ parkedReason: 'the event was changed in the database' });
    expect(thief.received).toEqual([]);
  });
});

describe('nothing is sent to an endpoint that', () => {
  const isParkedFor = async (endpoint: { id: string }, parkedReason: string): Promise<DeliveryRow> => {
    await merchant.calls.made();
    const rows = await scene.untilDeliveries(endpoint, all => all.some(({ status }) => status === 'parked'));
    const delivery = rows.find(({ status }) => status === 'parked')!;
    expect(delivery).toMatchObject({ parkedReason });
    expect(thief.received).toEqual([]);
    return delivery;
  };

  /** Its delivery waits for its next turn, without a failure. Returns the payment. */
  const isPutOff = async (endpoint: { id: string }): Promise<{ id: string }> => {
    const payment = await merchant.calls.made();
    const rows = await scene.untilDeliveries(endpoint, all =>
      all.some(({ nextAttemptAt, isClaimed }) => !isClaimed && (nextAttemptAt?.getTime() ?? 0) > Date.now() + 30_000),
    );
    expect(rows.filter(({ status }) => status !== 'succeeded')).toMatchObject([{ status: 'scheduled', failures: 0 }]);
    expect(thief.received).toEqual([]);
    return payment;
  };

  test('somebody gave another address, until it is as it was', async () => {
    receiver.answer = answering(200);
    const endpoint = await merchant.endpoint(receiver.url);
    const point = (url: string) => tamper(`update webhook_endpoints set url = '${url}' where id = '${endpoint.id}'`);
    await point(thief.url);
    const { id } = await isParkedFor(endpoint, 'the endpoint was changed in the database');
    expect(alarms.map(({ message }) => message)).toContain('an endpoint does not match its seal');
    await point(receiver.url);
    expect((await merchant.call('POST', `/deliveries/${id}/resend`)).status).toBe(200);
    await scene.untilDelivery(endpoint, ({ status }) => status === 'succeeded');
  });

  test('somebody gave an earlier address, with the seal of that time, right after an event was sent', async () => {
    receiver.answer = answering(200);
    const endpoint = await merchant.endpoint(thief.url);
    const kept = `kept_${endpoint.id.slice(3)}`;
    await tamper(`create table ${kept} as select * from webhook_endpoints where id = '${endpoint.id}'`);
    expect((await merchant.call('PATCH', `/webhooks/${endpoint.id}`, { url: receiver.url })).status).toBe(200);
    await merchant.calls.made();
    await scene.untilDelivery(endpoint, ({ status }) => status === 'succeeded');
    await tamper(`create table genuine_${kept} as select * from webhook_endpoints where id = '${endpoint.id}';
      update webhook_endpoints e set url = k.url, row_seal = k.row_seal from ${kept} k where e.id = k.id`);
    receiver.received.length = 0;
    const later = await isPutOff(endpoint);
    await tamper(
      `update webhook_endpoints e set url = k.url, row_seal = k.row_seal from genuine_${kept} k where e.id = k.id`,
    );
    await scene.makeDue(later);
    // By itself, and nothing has failed meanwhile.
    await scene.untilDeliveries(endpoint, all => all.every(({ status }) => status === 'succeeded'));
    expect([thief.received, receiver.received.length]).toEqual([[], 1]);
    expect(alarms.map(({ message }) => message)).toContain('an endpoint is not the one that the audit log vouches for');
  });

  test('somebody gave an earlier address, with a register that lists it', async () => {
    const endpoint = await merchant.endpoint(thief.url);
    const kept = `kept_${endpoint.id.slice(3)}`;
    await tamper(`create table ${kept} as select e.*, h.register from webhook_endpoints e
      join audit_heads h using (account_id) where e.id = '${endpoint.id}'`);
    expect((await merchant.call('PATCH', `/webhooks/${endpoint.id}`, { url: receiver.url })).status).toBe(200);
    await tamper(`update webhook_endpoints e set url = k.url, row_seal = k.row_seal from ${kept} k where e.id = k.id;
      update audit_heads h set register = k.register from ${kept} k where h.account_id = k.account_id`);
    await isPutOff(endpoint);
  });
});

test('a delivery of a genuine event that somebody schedules again is sent as it was', async () => {
  const { payment, delivery } = await waiting();
  await scene.makeDue(payment);
  await scene.untilDelivery(payment, ({ status }) => status === 'succeeded');
  await tamper(`update deliveries set status = 'scheduled', next_attempt_at = now(), finished_at = null
    where id = '${delivery.id}'`);
  await scene.untilDelivery(payment, ({ status }) => status === 'succeeded');
  expect(new Set(receiver.received.map(({ body }) => body.toString())).size).toBe(1);
});
