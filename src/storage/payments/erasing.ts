import type { Environment, Scope } from '../../core/environment.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import { columns } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import type { SealedAnswer } from '../sealedAnswers.ts';
import type { EventRow } from '../webhooks/eventLog.ts';
import { eventColumns } from '../webhooks/sealedEvents.ts';
import { createPaymentRoute } from './insertPayments.ts';

const anywhereStatement = {
  name: 'erase-find',
  text: `select account_id as "accountId", environment, id, status::text as status from payments where id = any($1)`,
};
/** Payments of any account, for operators. */
export const findPayments = (
  db: Queryable,
  ids: readonly string[],
): Promise<(PaymentKey & { readonly status: string })[]> =>
  db.query<Row & PaymentKey & { status: string }>(anywhereStatement, [ids]);

const ofPayment = (key: PaymentKey): unknown[] => [key.accountId, key.environment, key.id];

const paymentStatement = {
  name: 'erase-payment',
  text: `update payments set description = null, metadata = '{}', redirect_url = null, external_id = $4, callback_url = $5,
      row_seal = $6
    where account_id = $1 and environment = $2 and id = $3`,
};
/** The seal is of the row without its texts. */
export const erasePaymentRow = async (
  tx: Queryable,
  key: PaymentKey,
  left: { readonly externalId: string | null; readonly callbackUrl: string | null; readonly seal: Buffer },
): Promise<void> => {
  await tx.query(paymentStatement, [...ofPayment(key), left.externalId, left.callbackUrl, left.seal]);
};

const eventsStatement = {
  name: 'erase-events-read',
  text: `select ${eventColumns} from events e where account_id = $1 and environment = $2 and payment_id = $3
      and sequence > $4 order by sequence limit $5`,
};
/** The history of a payment, oldest first, from after `sequence`. */
export const readHistory = (tx: Queryable, key: PaymentKey, sequence: number, limit: number): Promise<EventRow[]> =>
  tx.query<EventRow>(eventsStatement, [...ofPayment(key), sequence, limit]);

export type ErasedEvent = Scope & { readonly id: string; readonly body: string; readonly seal: Buffer };
const erasedEvents = columns<ErasedEvent>({
  account_id: ['text', e => e.accountId],
  environment: ['environment', e => e.environment],
  id: ['text', e => e.id],
  body: ['text', e => e.body],
  row_seal: ['bytea', e => e.seal],
});
const writeEventsStatement = {
  name: 'erase-events-write',
  text: `update events e set body = i.body, row_seal = i.row_seal from ${erasedEvents.rows('i')}
    where e.account_id = i.account_id and e.environment = i.environment and e.id = i.id`,
};
export const writeErasedEvents = async (tx: Queryable, events: readonly ErasedEvent[]): Promise<void> => {
  await tx.query(writeEventsStatement, erasedEvents.values(events));
};

// Delivery ids are derived from event and target, so deliveries need no lookup.
const attemptsStatement = {
  name: 'erase-attempts',
  text: `with erased as (
      update delivery_attempts a set response = ''
      where a.account_id = $1 and a.environment = $2 and length(a.response) > 0 and a.delivery_id = any (array(
        select delivery_id(e.id, t.id) from unnest($3::text[]) as e(id) cross join (
          select id from webhook_endpoints where account_id = $1 and environment = $2 union all select 'callback') t))
      returning 1
    )
    select count(*)::int as total from erased`,
};
/** Erases what receivers answered to these events. Returns how many answers there were. */
export const eraseResponses = async (
  tx: Queryable,
  { accountId, environment }: Scope,
  eventIds: readonly string[],
): Promise<number> =>
  (await tx.query<{ total: number }>(attemptsStatement, [accountId, environment, eventIds]))[0]!.total;

const stopStatement = {
  name: 'erase-stop-callbacks',
  text: `insert into stopped_callbacks (account_id, environment, payment_id) values ($1, $2, $3) on conflict do nothing`,
};
/** From now on, the payment sends no callbacks. */
export const stopCallbacks = async (tx: Queryable, key: PaymentKey): Promise<void> => {
  await tx.query(stopStatement, ofPayment(key));
};

export type CutCallback = { readonly eventId: string; readonly seal: Buffer };
const cut = columns<CutCallback>(
  { event_id: ['text', c => c.eventId], row_seal: ['bytea', c => c.seal] },
  { first: 5 },
);
// Only those that go where the payment says: others were changed in the database, and a new seal would make them right.
const cutStatement = {
  name: 'erase-cut-callbacks',
  text: `with found as materialized (
      select d.account_id, d.environment, d.id, i.row_seal from ${cut.rows('i')}
        join deliveries d on d.account_id = $1 and d.environment = $2 and d.id = delivery_id(i.event_id, 'callback')
      where d.callback_url = $3 for update of d
    ), cut as (
      update deliveries d set callback_url = $4, row_seal = f.row_seal, next_attempt_at = null,
        status = case d.status when 'scheduled' then 'parked' else d.status end,
        parked_reason = case d.status when 'scheduled' then 'the address of the callback was erased' else d.parked_reason end,
        finished_at = case d.status when 'scheduled' then clock_timestamp() else d.finished_at end,
        claimed_by = null, claimed_until = null
      from found f where d.account_id = f.account_id and d.environment = f.environment and d.id = f.id
    )
    update delivery_attempts a set url = $4 from found f
    where a.account_id = f.account_id and a.environment = f.environment and a.delivery_id = f.id and a.url = $3`,
};
/** Leaves of the callback's address only its server. What waits to be sent is parked. */
export const cutCallbacks = async (
  tx: Queryable,
  { accountId, environment }: Scope,
  { from, to }: { readonly from: string; readonly to: string },
  callbacks: readonly CutCallback[],
): Promise<void> => {
  await tx.query(cutStatement, [accountId, environment, from, to, ...cut.values(callbacks)]);
};

/** The routes whose kept answers show a payment, besides the one that creates it. */
const actionRoutes = (id: string): string[] => ['cancel', 'resolve'].map(verb => `POST /v1/payments/${id}/${verb}`);

const answerColumns = `account_id as "accountId", environment, route, key, body_hash as "bodyHash", resource_id as "resourceId",
      status, response, sealed_response as "sealedResponse", row_seal as seal`;
// Two lookups, each by an index. As one with "or", the planner may read all answers of the account.
const answersStatement = {
  name: 'erase-answers-read',
  text: `select ${answerColumns} from idempotency_keys where created_at = $4 and account_id = $1 and environment = $2
      and route = '${createPaymentRoute}' and resource_id = $3 and response is not null
    union all
    select ${answerColumns} from idempotency_keys where account_id = $1 and environment = $2 and route = any($5)
      and response is not null`,
};
export type AnswerRow = Row & SealedAnswer & { readonly environment: Environment; readonly seal: Buffer | null };
/** Kept answers that show the payment. The one to its creation was written at the same time. */
export const readAnswers = (tx: Queryable, key: PaymentKey, createdAt: Date): Promise<AnswerRow[]> =>
  tx.query<AnswerRow>(answersStatement, [...ofPayment(key), createdAt, actionRoutes(key.id)]);

// Compared as the index sorts: with the collation of event ids, every answer of the account would be read.
const resendAnswersStatement = {
  name: 'erase-resend-answers-read',
  text: `select ${answerColumns} from idempotency_keys where account_id = $1 and environment = $2 and response is not null
      and route = any (array(
        select ('POST /v1/deliveries/' || delivery_id(e.id, 'callback') || '/resend') collate "default" from events e
        where e.account_id = $1 and e.environment = $2 and e.payment_id = $3))`,
};
/** Kept answers that show deliveries to the callback of the payment. */
export const readResendAnswers = (tx: Queryable, key: PaymentKey): Promise<AnswerRow[]> =>
  tx.query<AnswerRow>(resendAnswersStatement, ofPayment(key));

const answerStatement = {
  name: 'erase-answer-write',
  text: `update idempotency_keys set response = $5, row_seal = $6
    where account_id = $1 and environment = $2 and route = $3 and key = $4 and row_seal = $7`,
};
/** Not if the key was used again meanwhile. */
export const writeErasedAnswer = async (
  tx: Queryable,
  { accountId, environment, route, key, seal: was }: AnswerRow,
  { response, seal }: { readonly response: string; readonly seal: Buffer },
): Promise<void> => {
  await tx.query(answerStatement, [accountId, environment, route, key, response, seal, was]);
};
