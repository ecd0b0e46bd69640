import type { Scope } from '../../core/environment.ts';
import type { PaymentException, PaymentStatus } from '../../core/payment/states.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import type { Queryable } from '../database.ts';

export type NewEvent = {
  id: string;
  payment: PaymentKey;
  sequence: number;
  type: string;
  status: PaymentStatus;
  exception: PaymentException | null;
  previousStatus: PaymentStatus;
  previousException: PaymentException | null;
  body: string;
  createdAt: Date;
  callbackUrl: string | null;
};

/**
 * When a new delivery is due: at once. A clock may be ahead for a moment, and ids stamped then never go back; a
 * delivery must not wait until that time comes.
 */
export const dueAtOnce = (createdAt: string): string => `least(${createdAt}, clock_timestamp())`;

/** Whether the endpoint `w` gets the event with the alias `event`: it is enabled and subscribes to the type. */
export const takesEvent = (event: string, type = `${event}.type`): string =>
  `w.account_id = ${event}.account_id and w.environment = ${event}.environment
        and w.deleted_at is null and w.status = 'enabled' and w.events && array['*', ${type}]`;

/** The texts joined as bytes, the start of each, counted from one as in SQL, and its length. */
const asBytes = (texts: readonly string[]): { bytes: Buffer; starts: number[]; lengths: number[] } => {
  const parts = texts.map(text => Buffer.from(text));
  const lengths = parts.map(part => part.length);
  const starts: number[] = [];
  let next = 1;
  for (const length of lengths) {
    starts.push(next);
    next += length;
  }
  return { bytes: Buffer.concat(parts), starts, lengths };
};

// All bodies are sent as one bytea and cut out of it. In a text array every quote would be escaped here and parsed
// there, and the materialized input would write all bodies to disk.
const insertEventsStatement = {
  name: 'events-insert',
  text: `with input as materialized (
      select * from unnest($1::text[], $2::environment[], $3::text[], $4::text[], $5::integer[], $6::text[],
        $7::payment_status[], $8::payment_exception[], $9::payment_status[], $10::payment_exception[],
        $11::timestamptz[], $12::text[], $13::integer[], $14::integer[])
      as i(account_id, environment, id, payment_id, sequence, type, status, exception, previous_status,
        previous_exception, created_at, callback_url, body_start, body_length)
    ), written as (
      insert into events (account_id, environment, id, payment_id, sequence, type, status, exception, previous_status,
        previous_exception, body, created_at)
      select account_id, environment, id, payment_id, sequence, type, status, exception, previous_status,
        previous_exception, convert_from(substr($15::bytea, body_start, body_length), 'UTF8'), created_at from input
    ), matching as materialized (
      select i.account_id, i.environment, i.id as event_id, i.created_at, w.id as endpoint_id, w.url
      from input i join webhook_endpoints w on ${takesEvent('i')}
    ), to_endpoints as (
      insert into deliveries (account_id, environment, id, event_id, endpoint_id, next_attempt_at, created_at)
      select account_id, environment, delivery_id(event_id, endpoint_id), event_id, endpoint_id, ${dueAtOnce('created_at')},
        created_at
      from matching
    )
    insert into deliveries (account_id, environment, id, event_id, callback_url, next_attempt_at, created_at)
    select account_id, environment, delivery_id(id, 'callback'), id, callback_url, ${dueAtOnce('created_at')}, created_at
    from input i where callback_url is not null
      and not exists (select from matching m where m.event_id = i.id and m.url = i.callback_url)`,
};
/** Writes events and their deliveries, inside the transaction that changes the payments. */
export const insertEvents = async (db: Queryable, events: readonly NewEvent[]): Promise<void> => {
  const column = <T>(pick: (event: NewEvent) => T): T[] => events.map(pick);
  const bodies = asBytes(column(e => e.body));
  await db.query(insertEventsStatement, [
    column(e => e.payment.accountId),
    column(e => e.payment.environment),
    column(e => e.id),
    column(e => e.payment.id),
    column(e => e.sequence),
    column(e => e.type),
    column(e => e.status),
    column(e => e.exception),
    column(e => e.previousStatus),
    column(e => e.previousException),
    column(e => e.createdAt),
    column(e => e.callbackUrl),
    bodies.starts,
    bodies.lengths,
    bodies.bytes,
  ]);
};

const insertSampleStatement = {
  name: 'event-insert-sample',
  text: `with written as (
      insert into events (account_id, environment, id, type, body, created_at) values ($1, $2, $3, $4, $5, $6)
      returning account_id, environment, id, type, created_at
    ), sent as (
      insert into deliveries (account_id, environment, id, event_id, endpoint_id, next_attempt_at, created_at)
      select e.account_id, e.environment, delivery_id(e.id, w.id), e.id, w.id, ${dueAtOnce('e.created_at')},
        e.created_at
      from written e join webhook_endpoints w on ${takesEvent('e')}
      returning 1
    )
    select count(*)::int as total from sent`,
};
/** Writes an event without a payment, delivered like any other. Returns how many endpoints get it. */
export const insertSampleEvent = async (
  db: Queryable,
  scope: Scope,
  event: { id: string; type: string; body: string; createdAt: Date },
): Promise<number> => {
  const values = [scope.accountId, scope.environment, event.id, event.type, event.body, event.createdAt];
  return (await db.query<{ total: number }>(insertSampleStatement, values))[0]!.total;
};
