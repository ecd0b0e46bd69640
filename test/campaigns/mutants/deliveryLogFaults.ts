// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import { api, type Fault, storage } from './fault.ts';

const lists: Fault[] = [
  {
    name: 'the cursor names the first event of the next page',
    file: 'src/http/deliveryRoutes.ts',
    find: 'shown.at(-1)!.id',
    replace: 'rows.at(-1)!.id',
    tests: api('events'),
  },
  {
    name: 'a page begins with the last event of the one before',
    file: 'src/storage/eventLog.ts',
    find: 'and id between $3 and $4 and id < $5',
    replace: 'and id between $3 and $4 and id <= $5',
    tests: api('events'),
  },
  {
    name: "the list of a payment's events ignores the cursor",
    file: 'src/storage/eventLog.ts',
    find: 'coalesce((select sequence from place), 2147483647)',
    replace: '2147483647',
    tests: api('events'),
  },
  {
    name: "a payment's events are found for whoever asks",
    file: 'src/storage/eventLog.ts',
    find: 'from events where account_id = $1 and environment = $2 and payment_id = $7\n        and',
    replace: 'from events where payment_id = $7\n        and',
    tests: api('events'),
  },
  {
    name: 'the last millisecond of a range of events is left out',
    file: 'src/http/deliveryRoutes.ts',
    find: "lastId: lastIdAt('event'",
    replace: "lastId: firstIdAt('event'",
    tests: api('eventsQuery'),
  },
  {
    name: 'a paymentId may be anything',
    file: 'src/http/deliverySchemas.ts',
    find: '{ ...storable, minLength: 1, maxLength: 40,',
    replace: '{ maxLength: 40,',
    tests: api('eventsQuery'),
  },
  {
    name: 'a cursor may be anything',
    file: 'src/http/deliveryRoutes.ts',
    find: 'if (!isId(kind, cursor))',
    replace: 'if (cursor.length === 0)',
    tests: api('eventsQuery', 'deliveriesList'),
  },
  {
    name: 'a page of deliveries is looked for from the newest on',
    file: 'src/storage/deliveryLog.ts',
    find: 'and d.id < $5 order by',
    replace: "and (d.id < $5 or $5 = '') order by",
    tests: storage('deliveryLogCost'),
  },
  {
    name: 'a list shows deliveries to any endpoint of the account',
    file: 'src/storage/deliveryLog.ts',
    find: 'where ${owned} and d.endpoint_id = $3 and d.status',
    replace: 'where ${owned} and d.endpoint_id >= $3 and d.status',
    tests: api('deliveriesList'),
  },
  {
    name: 'parked deliveries of the account are listed in either environment',
    file: 'src/storage/deliveryLog.ts',
    find: "where ${owned} and d.status = 'parked' and d.id < $3",
    replace: "where d.account_id = $1 and $2 <> '' and d.status = 'parked' and d.id < $3",
    tests: api('deliveriesList'),
  },
  {
    name: 'all deliveries are listed as parked',
    file: 'src/storage/deliveryLog.ts',
    find: "and d.status = 'parked' and d.id < $3",
    replace: 'and d.id < $3',
    tests: api('deliveriesList'),
  },
  {
    name: 'parked deliveries are looked for among all',
    file: 'src/storage/deliveryLog.ts',
    find: "and d.status = 'parked' and d.id < $3",
    replace: "and d.status || '' = 'parked' and d.id < $3",
    tests: storage('deliveryLogCost'),
  },
  {
    name: 'a delivery is shown to whoever knows its id',
    file: 'src/storage/deliveryLog.ts',
    find: "name: 'delivery-log-read',\n  text: `select ${columns} from deliveries d ${withEventAndEndpoint} where ${owned} and d.id = $3`",
    replace:
      "name: 'delivery-log-read',\n  text: `select ${columns} from deliveries d ${withEventAndEndpoint} where $1 <> '' and $2 <> '' and d.id = $3`",
    tests: api('deliveries', 'isolation'),
  },
];

const log: Fault[] = [
  {
    name: 'the log tells another time than was signed',
    file: 'src/engine/deliveries.ts',
    find: 'Math.floor(row.at.getTime() / 1000)',
    replace: 'Math.ceil(row.at.getTime() / 1000)',
    tests: api('deliveries'),
  },
  {
    name: 'the log begins with the oldest attempt',
    file: 'src/storage/deliveryLog.ts',
    find: 'order by claim desc limit $4',
    replace: 'order by claim limit $4',
    tests: api('deliveriesResend'),
  },
];

const resending: Fault[] = [
  {
    name: 'a callback is resent to a receiver that wants no more',
    file: 'src/storage/deliveryLog.ts',
    find: "when x.payment_id is not null then 'stopped' end",
    replace: 'end',
    tests: api('deliveriesResend'),
  },
  {
    name: 'one 410 stops the callbacks of all payments',
    file: 'src/storage/deliveryLog.ts',
    find: ' and x.payment_id = e.payment_id',
    replace: '',
    tests: api('deliveriesResend'),
  },
  {
    name: 'a delivery to a deleted endpoint is resent',
    file: 'src/storage/deliveryLog.ts',
    find: "case when w.deleted_at is not null then 'deleted' when",
    replace: 'case when',
    tests: api('deliveriesResend'),
  },
  {
    name: 'what is sent again goes on with its old schedule',
    file: 'src/storage/deliveryLog.ts',
    find: "status = 'scheduled', failures = 0, next_attempt_at",
    replace: "status = 'scheduled', next_attempt_at",
    tests: api('replay', 'deliveriesResend'),
  },
  {
    name: 'a resend waits for the next attempt',
    file: 'src/storage/deliveryLog.ts',
    find: 'next_attempt_at = clock_timestamp(), parked_reason',
    replace: 'next_attempt_at = coalesce(d.next_attempt_at, clock_timestamp()), parked_reason',
    tests: api('deliveriesResend', 'replay'),
  },
];

const replaying: Fault[] = [
  {
    name: 'a replay sends kinds that nobody subscribed to',
    file: 'src/engine/deliveries.ts',
    find: "events.includes('*') ? eventTypes : [...new Set(events)]",
    replace: 'eventTypes',
    tests: api('replay'),
  },
  {
    name: 'a replay leaves out what is on its way',
    file: 'src/storage/deliveryLog.ts',
    find: 'do update set ${asNew}',
    replace: 'do update set ${asNew} where d.claimed_until is null',
    tests: api('replay'),
  },
  {
    name: 'a replay leaves alone what was delivered',
    file: 'src/storage/deliveryLog.ts',
    find: 'on conflict (account_id, environment, id) do update set ${asNew}',
    replace: 'on conflict (account_id, environment, id) do nothing',
    tests: api('replay'),
  },
  {
    name: 'a replay sends the events of every tenant',
    file: 'src/storage/deliveryLog.ts',
    find: 'select id from events where account_id = $1 and environment = $2 and type = t.type',
    replace: 'select id from events where account_id <= $1 and environment <= $2 and type = t.type',
    tests: api('replay'),
  },
  {
    name: 'a replay sends one kind after the other',
    file: 'src/storage/deliveryLog.ts',
    find: '(${subscribed} order by e.id limit $6)',
    replace: '(${subscribed} limit $6)',
    tests: api('replay'),
  },
  {
    name: 'a replay ends after its first part',
    file: 'src/engine/deliveries.ts',
    find: 'if (total < replayBatch) break;',
    replace: 'break;',
    tests: api('replay'),
  },
  {
    name: 'a replay has no limit',
    file: 'src/engine/deliveries.ts',
    find: 'maxReplay + 1)) <= maxReplay)',
    replace: 'maxReplay + 1)) <= 10 * maxReplay)',
    tests: api('replay'),
  },
  {
    name: 'a refusal found while the key is held is not kept',
    file: 'src/engine/idempotency.ts',
    find: '    if (isKept(error)) {',
    replace: '    if (isKept(error) && error.status !== 409) {',
    tests: api('replay'),
  },
];

export const deliveryLogFaults: readonly Fault[] = [...lists, ...log, ...resending, ...replaying];
