import type { Environment, Scope } from '../../core/environment.ts';
import type { Frontier } from '../../core/payment/facts.ts';
import type { PaymentException, PaymentStatus } from '../../core/payment/states.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import { creditsColumn, type FundsRow, fundsColumns, hasFunds, shownText } from '../chain/transfers.ts';
import { assignments, columns, type Fields } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import { paymentKeys } from './paymentKeys.ts';

/** Base units as text: JSON has no integers of that size. */
export type StoredTier = { atLeast: string; kind: 'finalized' | 'safe' | 'depth'; depth: number | null };

/** What a payment is created with, except for sums and times. */
export type PaymentTerms = {
  accountId: string;
  environment: Environment;
  id: string;
  decimals: number;
  currency: string;
  network: string;
  caip2: string;
  contract: string | null;
  address: string;
  walletKind: 'forwarder' | 'xpub';
  treasury: string;
  mac: Buffer;
  toleranceBps: number;
  latePolicy: 'accept' | 'manual';
  lateWindowSeconds: number;
  description: string | null;
  /** The source text as the merchant sent it. */
  metadata: string;
  callbackUrl: string | null;
  redirectUrl: string | null;
  externalId: string | null;
};

/** What decisions change, except for sums and for when the payment is looked at next. */
type PaymentState = {
  status: PaymentStatus;
  exception: PaymentException | null;
  completedAt: Date | null;
  canceledAt: Date | null;
  sequence: number;
  /** Whether an event has reported the first funds, and whether one has reported a stray. */
  detected: boolean;
  strayed: boolean;
  timeEndedAt: Date | null;
  /** The block in which the funds reached the required amount; null while they do not. */
  coveredNumber: number | null;
};

type PaymentProgress = PaymentState & {
  /** Whether strays wait for their event. */
  untold: boolean;
  wakeAt: Date | null;
  awaitsRead: boolean;
  expiredUnread: boolean;
};

/** A payment as far as its seal covers it. */
export type SealedPayment = PaymentTerms &
  PaymentState & {
    /** Base units, as text. */
    amount: string;
    amountReceived: string;
    amountConfirmed: string;
    amountAccepted: string | null;
    acceptedAt: Date | null;
    derivationIndex: string;
    tiers: readonly StoredTier[];
    /** Base units, as text. */
    dustFloor: string;
    /** The newest block that was known, for an address of an extended public key. */
    headNumber: string | null;
    createdAt: Date;
    expiresAt: Date;
    /** Part of seals only: branches of chains say what was lost. */
    lostTransfers: string | null;
  };

export type PaymentRow = Row &
  SealedPayment &
  PaymentProgress & {
    /** What canonical, verified forwards sent from the address to the treasury. */
    amountForwarded: string;
    wakeFrontier: Frontier | null;
    wakeNumber: number | null;
    /** Up to this time, the balances of the address agree with the transfers. */
    balanceCheckedAt: Date | null;
    seal: Buffer | null;
  };

/** A payment with its transfers, read at one moment. */
export type ShownPayment = PaymentRow & FundsRow;

/** A payment with the transfers that its sum comes from. */
export type CreditedPayment = PaymentRow & Pick<FundsRow, 'transfers'>;

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
  p.balance_checked_at as "balanceCheckedAt", p.awaits_read as "awaitsRead", p.expired_unread as "expiredUnread",
  p.head_number as "headNumber", p.lost_transfers as "lostTransfers", p.row_seal as seal`;

export const shownPaymentColumns = `${paymentColumns}, ${fundsColumns}`;
export const creditedPaymentColumns = `${paymentColumns}, ${creditsColumn}`;

type Wanted = { readonly scope: Scope; readonly id: string };

const wantedPayments = columns<Wanted>({
  account_id: ['text', w => w.scope.accountId],
  environment: ['environment', w => w.scope.environment],
  id: ['text', w => w.id],
});
const fromWanted = `from ${wantedPayments.unnest} with ordinality as wanted(${wantedPayments.names}, position)
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
  const values = wantedPayments.values(wanted);
  const rows = await db.query<VersionedPayment & { position: number }>(readPaymentsStatement, values);
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
  const values = wantedPayments.values(wanted);
  const rows = await db.query<{ position: number; version: string }>(readVersionsStatement, values);
  for (const row of rows) found[row.position - 1] = row.version;
  return found;
};

/** Ordered, so that two transactions that lock the same rows cannot deadlock. */
const lockText = `select ${paymentColumns}
  from ${paymentKeys.rows('k')}
    join payments p on p.account_id = k.account_id and p.environment = k.environment and p.id = k.id
  order by p.account_id, p.environment, p.id for no key update of p`;
const lockStatement = { name: 'payments-lock', text: lockText };
const lockFreeStatement = { name: 'payments-lock-free', text: `${lockText} skip locked` };

export const lockPayments = (
  db: Queryable,
  keys: readonly PaymentKey[],
  whenLocked: 'wait' | 'skip',
): Promise<PaymentRow[]> =>
  db.query<PaymentRow>(whenLocked === 'wait' ? lockStatement : lockFreeStatement, paymentKeys.values(keys));

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

export type PaymentChange = PaymentProgress & {
  amountReceived: bigint;
  amountConfirmed: bigint;
  accepted: { amount: bigint; at: Date } | null;
  wakeBlock: { frontier: Frontier; number: number } | null;
};

/** `seal`: of the row after all changes of the transaction. */
type Changed = { readonly key: PaymentKey; readonly change: PaymentChange; readonly seal: Buffer };

const state: Fields<Changed> = {
  status: ['payment_status', c => c.change.status],
  exception: ['payment_exception', c => c.change.exception],
  amount_received: ['numeric', c => c.change.amountReceived.toString()],
  amount_confirmed: ['numeric', c => c.change.amountConfirmed.toString()],
  amount_accepted: ['numeric', c => c.change.accepted?.amount.toString() ?? null],
  accepted_at: ['timestamptz', c => c.change.accepted?.at ?? null],
  completed_at: ['timestamptz', c => c.change.completedAt],
  canceled_at: ['timestamptz', c => c.change.canceledAt],
  sequence: ['integer', c => c.change.sequence],
  detected: ['boolean', c => c.change.detected],
  strayed: ['boolean', c => c.change.strayed],
  untold: ['boolean', c => c.change.untold],
  time_ended_at: ['timestamptz', c => c.change.timeEndedAt],
  covered_number: ['bigint', c => c.change.coveredNumber],
  wake_at: ['timestamptz', c => c.change.wakeAt],
  wake_frontier: ['text', c => c.change.wakeBlock?.frontier ?? null],
  wake_number: ['bigint', c => c.change.wakeBlock?.number ?? null],
  awaits_read: ['boolean', c => c.change.awaitsRead],
  expired_unread: ['boolean', c => c.change.expiredUnread],
  row_seal: ['bytea', c => c.seal],
};
const changed = columns<Changed>({
  account_id: ['text', c => c.key.accountId],
  environment: ['environment', c => c.key.environment],
  id: ['text', c => c.key.id],
  ...state,
});
const updatePaymentsStatement = {
  name: 'payments-update',
  text: `update payments p set ${assignments(state, 'c')} from ${changed.rows('c')}
    where p.account_id = c.account_id and p.environment = c.environment and p.id = c.id`,
};
/** Each payment at most once per call: the database checks one edge per update. */
export const updatePayments = async (db: Queryable, changes: readonly Changed[]): Promise<void> => {
  await db.query(updatePaymentsStatement, changed.values(changes));
};
