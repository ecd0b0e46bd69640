import type { Scope } from '../../core/environment.ts';
import { type AuditLogRow, listAuditOfSubject } from '../audit/auditLog.ts';
import { type StoredTransfer, shownJson } from '../chain/transferSeals.ts';
import type { Queryable, Row } from '../database.ts';
import type { EventRow } from '../webhooks/eventLog.ts';
import { eventColumns } from '../webhooks/sealedEvents.ts';

/** Limits for each kind, so that nobody can fill the page: anybody can send dust, and each stray is an event. */
const shownEvents = 300;
const shownStrays = 100;
const shownAttempts = 300;
const shownMoves = 100;

const owned = 'account_id = $1 and environment = $2';

/** To be held against its seal before it is used. */
export type TimelineEvent = EventRow & { readonly sequence: number };
/** Strays have their own limit, so that they cannot hide other events of the payment. */
const newestEvents = (columns: string, more: number): string => {
  const newest = (kind: string, limit: number): string => `(select ${columns} from events e
      where ${owned} and payment_id = $3 and ${kind} order by sequence desc limit ${limit + more})`;
  const others = newest(`type <> 'payment.stray'`, shownEvents);
  return `${others} union all ${newest(`type = 'payment.stray'`, shownStrays)}`;
};
const eventsStatement = {
  name: 'timeline-events',
  text: `${newestEvents(eventColumns, 1)} order by sequence`,
};

const largest = (stray: boolean): string =>
  `(select * from transfers where ${owned} and payment_id = $3 and stray = ${stray} order by amount desc, key limit ${shownMoves + 1})`;
const transfersStatement = {
  name: 'timeline-transfers',
  text: `select ${shownJson} as transfer from (${largest(false)} union all ${largest(true)}) t
      join blocks b on b.caip2 = t.caip2 and b.hash = t.block_hash
    order by t.amount desc, t.key`,
};

export type TimelineAttempt = {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly type: string;
  readonly url: string;
  readonly at: Date;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
};
// Delivery ids are derived from event and target, so deliveries need no lookup.
const attemptsStatement = {
  name: 'timeline-attempts',
  text: `select a.delivery_id as "deliveryId", e.id as "eventId", e.type, a.url, a.at, a.status_code as "statusCode",
      a.error, a.duration_ms as "durationMs"
    from (${newestEvents('id, type', 0)}) e
      cross join (
        select id from webhook_endpoints where ${owned} union all select 'callback'
      ) target
      join delivery_attempts a on a.account_id = $1 and a.environment = $2 and a.delivery_id = delivery_id(e.id, target.id)
    order by a.at desc limit ${shownAttempts + 1}`,
};

export type TimelineForward = {
  readonly txHash: string | null;
  readonly contract: string | null;
  readonly caip2: string;
  readonly amount: string;
  readonly canonical: boolean;
  readonly at: Date;
};
const forwardsStatement = {
  name: 'timeline-forwards',
  text: `select f.tx_hash as "txHash", f.contract, f.caip2, f.amount, f.canonical,
      f.recorded_at as at
    from forwards f where ${owned} and payment_id = $3 order by block_number desc limit ${shownMoves + 1}`,
};

export type TimelineSweep = {
  readonly id: string;
  readonly txHash: string;
  readonly at: Date;
  readonly by: string | null;
};
const sweepsStatement = {
  name: 'timeline-sweeps',
  text: `select s.id, s.tx_hash as "txHash", s.created_at as at, p.name as by
    from (select * from sweep_payments where ${owned} and payment_id = $3 order by sweep_id desc limit ${shownMoves + 1}) i
      join sweeps s on s.account_id = i.account_id and s.environment = i.environment and s.id = i.sweep_id
      left join people p on p.id = s.created_by`,
};

export type TimelineFacts = {
  readonly events: readonly TimelineEvent[];
  readonly transfers: readonly StoredTransfer[];
  readonly attempts: readonly TimelineAttempt[];
  readonly forwards: readonly TimelineForward[];
  readonly sweeps: readonly TimelineSweep[];
  /** What people did to the payment, newest first. */
  readonly actions: readonly AuditLogRow[];
  /** Whether any kind has more rows than its limit. */
  readonly isCut: boolean;
};

/**
 * Everything recorded about one payment, each kind by its index. Reads one row past each limit, to know whether there
 * are more.
 */
export const readTimeline = async (db: Queryable, scope: Scope, id: string): Promise<TimelineFacts> => {
  const values = [scope.accountId, scope.environment, id];
  let isCut = false;
  const cut = <T>(rows: readonly T[], limit: number): readonly T[] => {
    isCut ||= rows.length > limit;
    return rows.slice(0, limit);
  };
  const events = (await db.query<Row & TimelineEvent>(eventsStatement, values)).toReversed();
  const transfers = (await db.query<Row & { transfer: StoredTransfer }>(transfersStatement, values)).map(
    ({ transfer }) => transfer,
  );
  const isStray = ({ type }: TimelineEvent): boolean => type === 'payment.stray';
  const facts = {
    events: [
      ...cut(
        events.filter(event => !isStray(event)),
        shownEvents,
      ),
      ...cut(events.filter(isStray), shownStrays),
    ].sort((a, b) => a.sequence - b.sequence),
    transfers: [false, true].flatMap(stray =>
      cut(
        transfers.filter(transfer => transfer.stray === stray),
        shownMoves,
      ),
    ),
    attempts: cut(await db.query<Row & TimelineAttempt>(attemptsStatement, values), shownAttempts),
    forwards: cut(await db.query<Row & TimelineForward>(forwardsStatement, values), shownMoves),
    sweeps: cut(await db.query<Row & TimelineSweep>(sweepsStatement, values), shownMoves),
    actions: cut(await listAuditOfSubject(db, scope.accountId, id, shownMoves + 1), shownMoves),
  };
  return { ...facts, isCut };
};
