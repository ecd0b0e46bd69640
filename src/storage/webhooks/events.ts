import type { Scope } from '../../core/environment.ts';
import type { PaymentException, PaymentStatus } from '../../core/payment/states.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import { keptTrace, type TraceContext } from '../../core/traceContext.ts';
import { columns, type Fields, namesOf } from '../columns.ts';
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
  seal: Buffer;
  /** Of the request that caused the event; null if another cause did, such as a block. */
  trace: TraceContext | null;
  /** Where the event is sent besides the endpoints, with the seal of that delivery. */
  callback: { readonly url: string; readonly seal: Buffer } | null;
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

/** An event, and where its body is in the bytes of all bodies. SQL counts from one. */
type PlacedEvent = { readonly event: NewEvent; readonly start: number; readonly length: number };

const placeBodies = (events: readonly NewEvent[]): { placed: PlacedEvent[]; bytes: Buffer } => {
  const parts = events.map(event => Buffer.from(event.body));
  let next = 1;
  const placed = events.map((event, at) => {
    const start = next;
    const { length } = parts[at]!;
    next += length;
    return { event, start, length };
  });
  return { placed, bytes: Buffer.concat(parts) };
};

/** The columns of an event that are written as they are. */
const facts: Fields<PlacedEvent> = {
  account_id: ['text', e => e.event.payment.accountId],
  environment: ['environment', e => e.event.payment.environment],
  id: ['text', e => e.event.id],
  payment_id: ['text', e => e.event.payment.id],
  sequence: ['integer', e => e.event.sequence],
  type: ['text', e => e.event.type],
  status: ['payment_status', e => e.event.status],
  exception: ['payment_exception', e => e.event.exception],
  previous_status: ['payment_status', e => e.event.previousStatus],
  previous_exception: ['payment_exception', e => e.event.previousException],
  created_at: ['timestamptz', e => e.event.createdAt],
  row_seal: ['bytea', e => e.event.seal],
  trace: ['text', e => e.event.trace && keptTrace(e.event.trace)],
};
const input = columns<PlacedEvent>({
  ...facts,
  callback_url: ['text', e => e.event.callback?.url ?? null],
  callback_seal: ['bytea', e => e.event.callback?.seal ?? null],
  body_start: ['integer', e => e.start],
  body_length: ['integer', e => e.length],
});

// All bodies are sent as one bytea and cut out of it. In a text array every quote would be escaped here and parsed
// there, and the materialized input would write all bodies to disk.
const insertEventsStatement = {
  name: 'events-insert',
  text: `with input as materialized (
      select * from ${input.rows('i')}
    ), written as (
      insert into events (${namesOf(facts)}, body)
      select ${namesOf(facts)}, convert_from(substr($${input.next}::bytea, body_start, body_length), 'UTF8') from input
    ), matching as materialized (
      select i.account_id, i.environment, i.id as event_id, i.created_at, w.id as endpoint_id, w.url
      from input i join webhook_endpoints w on ${takesEvent('i')}
    ), to_endpoints as (
      insert into deliveries (account_id, environment, id, event_id, endpoint_id, next_attempt_at, created_at)
      select account_id, environment, delivery_id(event_id, endpoint_id), event_id, endpoint_id, ${dueAtOnce('created_at')},
        created_at
      from matching
    )
    insert into deliveries (account_id, environment, id, event_id, callback_url, row_seal, next_attempt_at, created_at)
    select account_id, environment, delivery_id(id, 'callback'), id, callback_url, callback_seal,
      ${dueAtOnce('created_at')}, created_at
    from input i where callback_url is not null
      and not exists (select from matching m where m.event_id = i.id and m.url = i.callback_url)`,
};
/** Writes events and their deliveries, inside the transaction that changes the payments. */
export const insertEvents = async (db: Queryable, events: readonly NewEvent[]): Promise<void> => {
  const { placed, bytes } = placeBodies(events);
  await db.query(insertEventsStatement, [...input.values(placed), bytes]);
};

// Security events go only to endpoints that name them.
const insertAccountEventStatement = {
  name: 'event-insert-account',
  text: `with written as (
      insert into events (account_id, environment, id, type, body, created_at, row_seal, trace)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      returning account_id, environment, id, type, created_at
    ), sent as (
      insert into deliveries (account_id, environment, id, event_id, endpoint_id, next_attempt_at, created_at)
      select e.account_id, e.environment, delivery_id(e.id, w.id), e.id, w.id, ${dueAtOnce('e.created_at')},
        e.created_at
      from written e join webhook_endpoints w on ${takesEvent('e')}
        and (e.type <> 'account.security' or e.type = any(w.events))
      returning 1
    )
    select count(*)::int as total from sent`,
};
/** Writes an event without a payment, delivered like any other. Returns how many endpoints get it. */
export const insertAccountEvent = async (
  db: Queryable,
  scope: Scope,
  event: { id: string; type: string; body: string; createdAt: Date; seal: Buffer; trace: TraceContext | null },
): Promise<number> => {
  const { id, type, body, createdAt, seal, trace } = event;
  const values = [scope.accountId, scope.environment, id, type, body, createdAt, seal, trace && keptTrace(trace)];
  return (await db.query<{ total: number }>(insertAccountEventStatement, values))[0]!.total;
};
