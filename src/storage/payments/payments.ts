import type { Environment, Scope } from '../../core/environment.ts';
import type { Frontier } from '../../core/payment/facts.ts';
import type { PaymentException, PaymentStatus } from '../../core/payment/states.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import { type FundsRow, fundsColumns, hasFunds, shownText } from '../chain/transfers.ts';
import type { Queryable, Row } from '../database.ts';

/** Base units as text: JSON has no integers of that size. */
export type StoredTier = { atLeast: string; kind: 'finalized' | 'safe' | 'depth'; depth: number | null };

export type PaymentRow = Row & {
  accountId: string;
  environment: Environment;
  id: string;
  status: PaymentStatus;
  exception: PaymentException | null;
  /** Base units, as text. */
  amount: string;
  amountReceived: string;
  amountConfirmed: string;
  /** What canonical, verified forwards sent from the address to the treasury. */
  amountForwarded: string;
  amountAccepted: string | null;
  acceptedAt: Date | null;
  decimals: number;
  currency: string;
  network: string;
  caip2: string;
  contract: string | null;
  address: string;
  walletKind: 'forwarder' | 'xpub';
  treasury: string;
  derivationIndex: string;
  mac: Buffer;
  tiers: StoredTier[];
  toleranceBps: number;
  /** Base units, as text. */
  dustFloor: string;
  latePolicy: 'accept' | 'manual';
  lateWindowSeconds: number;
  description: string | null;
  metadata: string;
  callbackUrl: string | null;
  redirectUrl: string | null;
  externalId: string | null;
  createdAt: Date;
  expiresAt: Date;
  completedAt: Date | null;
  canceledAt: Date | null;
  sequence: number;
  /** Whether an event has reported the first funds, and whether one has reported a stray. */
  detected: boolean;
  strayed: boolean;
  /** Whether strays wait for their event. */
  untold: boolean;
  timeEndedAt: Date | null;
  /** The block in which the funds reached the required amount; null while they do not. */
  coveredNumber: number | null;
  wakeAt: Date | null;
  wakeFrontier: Frontier | null;
  wakeNumber: number | null;
  /** Up to this time, the balances of the address agree with the transfers. */
  balanceCheckedAt: Date | null;
  awaitsRead: boolean;
  expiredUnread: boolean;
};

/** A payment with its transfers, read at one moment. */
export type ShownPayment = PaymentRow & FundsRow;

/** For the alias p. */
export const paymentColumns = `p.account_id as "accountId", p.environment, p.id, p.status, p.exception, p.amount,
  p.amount_received as "amountReceived", p.amount_confirmed as "amountConfirmed", p.amount_forwarded as "amountForwarded", p.amount_accepted as "amountAccepted",
  p.accepted_at as "acceptedAt", p.decimals, p.currency, p.network, p.caip2, p.contract, p.address, p.wallet_kind as "walletKind", p.treasury,
  p.derivation_index as "derivationIndex", p.mac, p.tiers, p.tolerance_bps as "toleranceBps", p.dust_floor as "dustFloor",
  p.late_policy as "latePolicy", p.late_window_seconds as "lateWindowSeconds", p.description, p.metadata,
  p.callback_url as "callbackUrl", p.redirect_url as "redirectUrl", p.external_id as "externalId",
  p.created_at as "createdAt", p.expires_at as "expiresAt", p.completed_at as "completedAt",
  p.canceled_at as "canceledAt", p.sequence, p.detected, p.strayed, p.untold, p.time_ended_at as "timeEndedAt",
  p.covered_number::float8 as "coveredNumber", p.wake_at as "wakeAt", p.wake_frontier as "wakeFrontier", p.wake_number::float8 as "wakeNumber",
  p.balance_checked_at as "balanceCheckedAt", p.awaits_read as "awaitsRead", p.expired_unread as "expiredUnread"`;

export const shownPaymentColumns = `${paymentColumns}, ${fundsColumns}`;

type Wanted = { readonly scope: Scope; readonly id: string };

const wantedColumns = (wanted: readonly Wanted[]): string[][] => [
  wanted.map(w => w.scope.accountId),
  wanted.map(w => w.scope.environment),
  wanted.map(w => w.id),
];

const fromWanted = `from unnest($1::text[], $2::environment[], $3::text[])
      with ordinality as wanted(account_id, environment, id, position)
    join payments p using (account_id, environment, id)`;
/**
 * For the alias p. Changes with every write to the row; with funds, also with every move of the chain; with strays,
 * also with the strays that are shown, because a reorg of any chain removes them without a write to the row.
 */
export const rowVersion = `p.xmin::text || p.ctid::text || case when ${hasFunds} then (
    select concat_ws(' ', '', c.latest_hash, c.safe_number, c.finalized_number, c.agreed_number)
    from chains c where c.caip2 = p.caip2
  ) else '' end || case when p.strayed then (
    select coalesce(' ' || md5(string_agg(t.caip2 || t.key, ' ' order by t.caip2, t.key)), '')
    from (${shownText('p.account_id, p.environment, p.id', true)}) t
  ) else '' end as version`;

const readPaymentsStatement = {
  name: 'payments-read',
  text: `select wanted.position::int, ${rowVersion}, ${shownPaymentColumns} ${fromWanted}`,
};
export type VersionedPayment = ShownPayment & { version: string };

/** Reads many callers' payments in one round trip, each only within its own scope; null where there is none. */
export const readPayments = async (db: Queryable, wanted: readonly Wanted[]): Promise<(VersionedPayment | null)[]> => {
  const found: (VersionedPayment | null)[] = wanted.map(() => null);
  if (found.length === 0) return found;
  const rows = await db.query<VersionedPayment & { position: number }>(readPaymentsStatement, wantedColumns(wanted));
  for (const row of rows) found[row.position - 1] = row;
  return found;
};

const readVersionsStatement = {
  name: 'payments-versions',
  text: `select wanted.position::int, ${rowVersion} ${fromWanted}`,
};
/** The versions alone, for a caller that has the rest: a tenth of the work on both sides. */
export const readPaymentVersions = async (db: Queryable, wanted: readonly Wanted[]): Promise<(string | null)[]> => {
  const found: (string | null)[] = wanted.map(() => null);
  if (found.length === 0) return found;
  const rows = await db.query<{ position: number; version: string }>(readVersionsStatement, wantedColumns(wanted));
  for (const row of rows) found[row.position - 1] = row.version;
  return found;
};

export const keyColumns = (keys: readonly PaymentKey[]): unknown[] => [
  keys.map(key => key.accountId),
  keys.map(key => key.environment),
  keys.map(key => key.id),
];

/** Ordered, so that two transactions that lock the same rows cannot deadlock. */
const lockText = `select ${paymentColumns}
  from unnest($1::text[], $2::environment[], $3::text[]) as k(account_id, environment, id)
    join payments p on p.account_id = k.account_id and p.environment = k.environment and p.id = k.id
  order by p.account_id, p.environment, p.id for no key update of p`;
const lockStatement = { name: 'payments-lock', text: lockText };
const lockFreeStatement = { name: 'payments-lock-free', text: `${lockText} skip locked` };

export const lockPayments = (
  db: Queryable,
  keys: readonly PaymentKey[],
  whenLocked: 'wait' | 'skip',
): Promise<PaymentRow[]> =>
  db.query<PaymentRow>(whenLocked === 'wait' ? lockStatement : lockFreeStatement, keyColumns(keys));

const findByExternalIdStatement = {
  name: 'payment-by-external-id',
  text: `select id from payments where account_id = $1 and environment = $2 and external_id = $3`,
};
export const findByExternalId = async (db: Queryable, scope: Scope, externalId: string): Promise<string | null> =>
  (await db.query<{ id: string }>(findByExternalIdStatement, [scope.accountId, scope.environment, externalId]))[0]
    ?.id ?? null;

const findPaymentStatement = {
  name: 'payment-find',
  text: `select p.account_id as "accountId", p.environment, p.id
    from accounts a join payments p on p.account_id = a.id and p.environment = $1 and p.id = $2`,
};
/** Finds a payment of any account. For operators only: everybody else reads within their own scope. */
export const findPayment = async (db: Queryable, environment: Environment, id: string): Promise<PaymentKey | null> =>
  (await db.query<PaymentKey>(findPaymentStatement, [environment, id]))[0] ?? null;

const nowStatement = { name: 'payment-now', text: `select clock_timestamp()::timestamptz(3) as now` };
export const readNow = async (db: Queryable): Promise<Date> => (await db.query<{ now: Date }>(nowStatement))[0]!.now;

export type PaymentChange = {
  status: PaymentStatus;
  exception: PaymentException | null;
  amountReceived: bigint;
  amountConfirmed: bigint;
  accepted: { amount: bigint; at: Date } | null;
  completedAt: Date | null;
  canceledAt: Date | null;
  sequence: number;
  detected: boolean;
  strayed: boolean;
  untold: boolean;
  timeEndedAt: Date | null;
  coveredNumber: number | null;
  wakeAt: Date | null;
  wakeBlock: { frontier: Frontier; number: number } | null;
  awaitsRead: boolean;
  expiredUnread: boolean;
};

const updatePaymentsStatement = {
  name: 'payments-update',
  text: `update payments p set status = c.status, exception = c.exception, amount_received = c.amount_received,
      amount_confirmed = c.amount_confirmed, amount_accepted = c.amount_accepted, accepted_at = c.accepted_at,
      completed_at = c.completed_at, canceled_at = c.canceled_at, sequence = c.sequence, wake_at = c.wake_at,
      detected = c.detected, strayed = c.strayed, time_ended_at = c.time_ended_at, wake_frontier = c.wake_frontier,
      wake_number = c.wake_number, covered_number = c.covered_number, untold = c.untold, expired_unread = c.expired_unread,
      awaits_read = c.awaits_read
    from unnest($1::text[], $2::environment[], $3::text[], $4::payment_status[], $5::payment_exception[], $6::numeric[],
      $7::numeric[], $8::numeric[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::integer[],
      $13::timestamptz[], $14::boolean[], $15::boolean[], $16::timestamptz[], $17::text[], $18::bigint[], $19::bigint[], $20::boolean[], $21::boolean[], $22::boolean[])
    as c(account_id, environment, id, status, exception, amount_received, amount_confirmed, amount_accepted, accepted_at,
      completed_at, canceled_at, sequence, wake_at, detected, strayed, time_ended_at, wake_frontier, wake_number, covered_number, untold, expired_unread, awaits_read)
    where p.account_id = c.account_id and p.environment = c.environment and p.id = c.id`,
};
/** Each payment at most once per call: the database checks one edge per update. */
export const updatePayments = async (
  db: Queryable,
  changes: readonly { key: PaymentKey; change: PaymentChange }[],
): Promise<void> => {
  const column = <T>(pick: (change: PaymentChange) => T): T[] => changes.map(({ change }) => pick(change));
  await db.query(updatePaymentsStatement, [
    ...keyColumns(changes.map(({ key }) => key)),
    column(c => c.status),
    column(c => c.exception),
    column(c => c.amountReceived.toString()),
    column(c => c.amountConfirmed.toString()),
    column(c => c.accepted?.amount.toString() ?? null),
    column(c => c.accepted?.at ?? null),
    column(c => c.completedAt),
    column(c => c.canceledAt),
    column(c => c.sequence),
    column(c => c.wakeAt),
    column(c => c.detected),
    column(c => c.strayed),
    column(c => c.timeEndedAt),
    column(c => c.wakeBlock?.frontier ?? null),
    column(c => c.wakeBlock?.number ?? null),
    column(c => c.coveredNumber),
    column(c => c.untold),
    column(c => c.expiredUnread),
    column(c => c.awaitsRead),
  ]);
};
