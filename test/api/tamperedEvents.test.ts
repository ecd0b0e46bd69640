import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type MoneyScene, startMoneyScene } from '../dashboard/moneyScene.ts';
import { type EventCalls, eventCalls } from './eventCalls.ts';
import { expectError } from './paymentCalls.ts';

let scene: MoneyScene;
let shop: EventCalls;
/** The id of a payment with two events, and those of the events. */
let payment: string;
let created: string;
let canceled: string;
beforeAll(async () => {
  scene = await startMoneyScene();
  shop = eventCalls(scene.dashboard.scene, scene.account);
});
beforeEach(async () => {
  payment = (await shop.made({ callbackUrl: 'https://shop.example/hook' })).id;
  await shop.act(payment, 'cancel');
  const events = (await shop.events(`paymentId=${payment}`)) as { id: string }[];
  [canceled, created] = events.map(({ id }) => id) as [string, string];
});

const tamper = (sql: string): Promise<void> =>
  scene.dashboard.scene.tamper(`begin; set local session_replication_role = replica; ${sql}; commit`);

const storyOf = async (id: string) => (await scene.owner.do('GET /payments/:id', { params: { id } })).timeline;

const changes = [
  `body = replace(body, 'payment.canceled', 'payment.completed')`,
  `type = 'payment.completed'`,
  `status = 'expired'`,
  `exception = 'overpaid'`,
  `previous_status = 'canceled'`,
  `previous_exception = 'late'`,
  'sequence = 3',
  `created_at = created_at - interval '1 millisecond'`,
  'row_seal = null',
];

describe('an event that was changed in the database is left out', () => {
  test.each(changes)('%s', async assignment => {
    await tamper(`update events set ${assignment} where id = '${canceled}'`);
    expectError(await shop.get(`/events/${canceled}`), 404, 'not_found');
    expectError(await shop.get(`/events/${canceled}/deliveries`), 404, 'not_found');
    const shown = (await shop.events(`paymentId=${payment}`)) as { id: string }[];
    expect(shown.map(({ id }) => id)).toEqual([created]);
    expect((await shop.got('/events?limit=2')).data).toMatchObject([{ id: created }]);
    expect((await storyOf(payment)).flatMap(({ refs }) => refs.eventId ?? [])).toEqual([created]);
  });
});

test('a page that lost an event still says where the next one begins', async () => {
  await tamper(`update events set body = '{}' where id = '${canceled}'`);
  const page = await shop.got('/events?limit=1');
  expect(page).toMatchObject({ data: [], pagination: { hasMore: true, nextCursor: canceled } });
  expect((await shop.got(`/events?limit=1&cursor=${canceled}`)).data).toMatchObject([{ id: created }]);
});

test('an event that somebody inserted is not there', async () => {
  const id = `evt_${'z'.repeat(26)}`;
  await tamper(`insert into events (account_id, environment, id, payment_id, sequence, type, status, previous_status, body,
      created_at, row_seal)
    select account_id, environment, '${id}', payment_id, 3, 'payment.completed', 'completed', 'confirming',
      replace(body, '${canceled}', '${id}'), created_at, row_seal from events where id = '${canceled}'`);
  expectError(await shop.get(`/events/${id}`), 404, 'not_found');
  await tamper(`delete from events where id = '${id}'`);
});

test('an event that somebody copied to another account is not there', async () => {
  const other = eventCalls(scene.dashboard.scene, await scene.dashboard.scene.account());
  await tamper(`insert into events select r.* from events e,
    jsonb_populate_record(null::events, to_jsonb(e) || jsonb_build_object('account_id', '${other.account.id}')) r
    where e.id = '${created}'`);
  expectError(await other.get(`/events/${created}`), 404, 'not_found');
  expect(await other.events()).toEqual([]);
  expect((await shop.get(`/events/${created}`)).status).toBe(200);
});

test('deliveries of a changed event, and callbacks with a changed address, are left out', async () => {
  const [delivery] = (await shop.got(`/events/${canceled}/deliveries`)).data as [{ id: string }];
  expect((await shop.get(`/deliveries/${delivery.id}`)).status).toBe(200);
  await tamper(`update deliveries set callback_url = 'https://thief.example/hook' where id = '${delivery.id}'`);
  expectError(await shop.get(`/deliveries/${delivery.id}`), 404, 'not_found');
  expectError(await shop.post(`/deliveries/${delivery.id}/resend`), 404, 'not_found');
  expect((await shop.got(`/events/${canceled}/deliveries`)).data).toEqual([]);
  await tamper(`update deliveries set callback_url = 'https://shop.example/hook' where id = '${delivery.id}'`);
  expect((await shop.get(`/deliveries/${delivery.id}`)).status).toBe(200);
  await tamper(`update events set body = '{}' where id = '${canceled}'`);
  expectError(await shop.get(`/deliveries/${delivery.id}`), 404, 'not_found');
  expectError(await shop.post(`/deliveries/${delivery.id}/resend`), 404, 'not_found');
});
