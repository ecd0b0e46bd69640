import type { Scope } from '../core/environment.ts';
import type { PaymentException, PaymentStatus } from '../core/payment/states.ts';
import type { Queryable } from './database.ts';

export type NewEvent = {
  id: string;
  paymentId: string;
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

const insertEventStatement = {
  name: 'event-insert',
  text: `with e as (
      insert into events (account_id, environment, id, payment_id, sequence, type, status, exception, previous_status,
        previous_exception, body, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      returning account_id, environment, id, created_at
    ), matching as (
      select w.id, w.url from webhook_endpoints w where w.account_id = $1 and w.environment = $2
        and w.deleted_at is null and w.status = 'enabled' and w.events && array['*', $6]
    ), to_endpoints as (
      insert into deliveries (account_id, environment, id, event_id, endpoint_id, next_attempt_at, created_at)
      select e.account_id, e.environment, delivery_id(e.id, m.id), e.id, m.id, e.created_at, e.created_at
      from e cross join matching m
    )
    insert into deliveries (account_id, environment, id, event_id, callback_url, next_attempt_at, created_at)
    select e.account_id, e.environment, delivery_id(e.id, 'callback'), e.id, $13, e.created_at, e.created_at
    from e where $13::text is not null and not exists (select from matching where url = $13)`,
};
/** The event and its deliveries. Runs inside the transaction that changes the payment. */
export const insertEvent = async (db: Queryable, scope: Scope, event: NewEvent): Promise<void> => {
  await db.query(insertEventStatement, [
    scope.accountId,
    scope.environment,
    event.id,
    event.paymentId,
    event.sequence,
    event.type,
    event.status,
    event.exception,
    event.previousStatus,
    event.previousException,
    event.body,
    event.createdAt,
    event.callbackUrl,
  ]);
};

const insertDeltasStatement = {
  name: 'deltas-insert',
  text: `insert into payment_deltas (account_id, environment, status, currency, network, hour, count)
    select account_id, environment, d.status, currency, network, date_trunc('hour', created_at, 'UTC'), d.count
    from payments cross join (values ($4::payment_status, -1), ($5::payment_status, 1)) as d(status, count)
    where account_id = $1 and environment = $2 and id = $3`,
};
/** Moves one payment from one status to another in the totals. */
export const moveTotal = async (
  db: Queryable,
  scope: Scope,
  id: string,
  from: PaymentStatus,
  to: PaymentStatus,
): Promise<void> => {
  if (from !== to) await db.query(insertDeltasStatement, [scope.accountId, scope.environment, id, from, to]);
};
