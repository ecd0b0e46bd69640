import { beforeAll, expect, test } from 'vitest';
import { eventTypes } from '../../src/core/payment/states.ts';
import type { Queryable } from '../../src/storage/database.ts';
import { purgeResponses } from '../../src/storage/webhooks/deliveryAttempts.ts';
import {
  countReplay,
  deliveriesOfEvent,
  listAttempts,
  listDeliveries,
  listParked,
  purgeDeliveries,
  readDelivery,
} from '../../src/storage/webhooks/deliveryLog.ts';
import { listEvents, readEvent } from '../../src/storage/webhooks/eventLog.ts';
import { manyEventId, writeManyEvents } from '../support/manyEvents.ts';
import { genericPagesRead, pagesRead } from '../support/pagesRead.ts';
import { openRows, type Rows } from './rows.ts';

const atMs = Date.parse('2026-01-31T12:00:00Z');
const [few, many] = [1_000, 100_000];
const limit = 21;

let rows: Rows;
let scope: { accountId: string; environment: 'sandbox' };
let paymentId: string;
let quietPaymentId: string;
let endpointId: string;
beforeAll(async () => {
  rows = await openRows();
  const accountId = await rows.account();
  scope = { accountId, environment: 'sandbox' };
  endpointId = await rows.endpoint(accountId);
  [paymentId, quietPaymentId] = [await rows.payment(accountId), await rows.payment(accountId)];
  await rows.event(accountId, quietPaymentId, { id: `'${manyEventId(atMs - 1, 1)}'` });
}, 300_000);

/**
 * Adds events up to number `to`, each with a delivery; one in a thousand is payment.completed. Only the first batch has
 * parked deliveries, so that a search for them among the newest finds none.
 */
const grow = async (from: number, to: number): Promise<void> => {
  await writeManyEvents(rows.db, { accountId: scope.accountId, paymentId, atMs, first: from + 1, count: to - from });
  await rows.run(`alter table events disable trigger user;
    update events set type = 'payment.completed' where sequence % 1000 = 0 and sequence > ${from};
    alter table events enable trigger user;
    insert into deliveries (account_id, environment, id, event_id, endpoint_id, status, next_attempt_at, finished_at,
      parked_reason, created_at)
    select account_id, environment, delivery_id(id, '${endpointId}'), id, '${endpointId}', s.status,
      case s.status when 'scheduled' then now() end, case s.status when 'scheduled' then null else now() end,
      case s.status when 'parked' then 'gone' end, created_at
    from events e, lateral (select (array['scheduled', 'succeeded', 'parked'])[1 + e.sequence % ${from === 0 ? 3 : 2}] as status) s
    where payment_id = '${paymentId}' and sequence > ${from};
    insert into delivery_attempts (account_id, environment, delivery_id, claim, at, url, signature, duration_ms, response)
    select account_id, environment, id, 1, now(), 'https://shop.example', 'v1,', 1, 'thanks' from deliveries
    on conflict do nothing`);
  await rows.run('vacuum analyze');
};

/** In the order of ids, which is not that of events: they contain a hash. */
const middleDeliveryOf = async (size: number): Promise<string> =>
  (await rows.read(`select id from deliveries order by id offset ${size / 2} limit 1`))[0]!.id as string;

type Work = (db: Queryable) => Promise<unknown>;

/** Every read of the API and of the purge, from the newest row and from the middle. */
const works = async (size: number): Promise<Record<string, Work>> => {
  const [middleEvent, middleDelivery] = [manyEventId(atMs, size / 2), await middleDeliveryOf(size)];
  const range = { firstId: manyEventId(atMs, 1), lastId: manyEventId(atMs, size) };
  const found: Record<string, Work> = {
    'event by id': db => readEvent(db, scope, middleEvent),
    'delivery by id': db => readDelivery(db, scope, middleDelivery),
    'attempts of a delivery': db => listAttempts(db, scope, middleDelivery, 50),
    'deliveries of an event': db => deliveriesOfEvent(db, scope, middleEvent, { before: null, limit: 100 }),
    purge: db => purgeDeliveries(db, 30, 100),
    'purge of answers': db => purgeResponses(db, 30, 100),
    'count of a replay of nothing': db =>
      countReplay(db, scope, { endpointId, types: ['payment.late'], ...range }, 100_001),
    'count of the first of a replay': db => countReplay(db, scope, { endpointId, types: eventTypes, ...range }, 20),
  };
  for (const before of [null, middleEvent]) {
    const at = before === null ? 'newest' : 'middle';
    const page = { before, limit };
    for (const type of [null, 'payment.stray', 'payment.completed', 'payment.late']) {
      found[`events, ${type}, ${at}`] = db => listEvents(db, scope, { type, paymentId: null, ...range }, page);
    }
    for (const id of [paymentId, quietPaymentId, 'pay_none']) {
      found[`events of ${id}, ${at}`] = db => listEvents(db, scope, { type: null, paymentId: id, ...range }, page);
    }
  }
  for (const before of [null, middleDelivery]) {
    const at = before === null ? 'newest' : 'middle';
    found[`parked deliveries, ${at}`] = db => listParked(db, scope, { before, limit });
    for (const status of [null, 'scheduled', 'succeeded', 'parked'] as const) {
      found[`deliveries, ${status}, ${at}`] = db => listDeliveries(db, scope, endpointId, { status, before, limit });
    }
  }
  return found;
};

const measure = async (size: number): Promise<Record<string, number>> => {
  const costs: Record<string, number> = {};
  for (const [name, work] of Object.entries(await works(size))) {
    costs[name] = await pagesRead(rows.db, work);
    costs[`${name}, generic plan`] = await genericPagesRead(rows.db, work);
  }
  return costs;
};

test(`pages cost the same among ${many} events and deliveries as among ${few}`, {
  tags: ['thorough'],
  timeout: 300_000,
}, async () => {
  await grow(0, few);
  const small = await measure(few);
  await grow(few, many);
  const large = await measure(many);
  // An index may be a level or two deeper, and each row of a page is looked up in it.
  const grown = Object.entries(large).filter(([name, pages]) => pages > 2 * small[name]! + 10);
  expect(grown.map(([name, pages]) => `${name}: ${small[name]} → ${pages}`)).toEqual([]);
  console.log('most pages read', Math.max(...Object.values(small)), '→', Math.max(...Object.values(large)));
});
