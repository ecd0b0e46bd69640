import type { Environment, Scope } from '../core/environment.ts';
import type { PaymentException, PaymentStatus } from '../core/payment/states.ts';
import type { Queryable, Row } from './database.ts';

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
  amountAccepted: string | null;
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
  wakeAt: Date | null;
};

export const paymentColumns = `p.account_id as "accountId", p.environment, p.id, p.status, p.exception, p.amount,
  p.amount_received as "amountReceived", p.amount_confirmed as "amountConfirmed", p.amount_accepted as "amountAccepted",
  p.decimals, p.currency, p.network, p.caip2, p.contract, p.address, p.wallet_kind as "walletKind", p.treasury,
  p.derivation_index as "derivationIndex", p.mac, p.tiers, p.tolerance_bps as "toleranceBps",
  p.late_policy as "latePolicy", p.late_window_seconds as "lateWindowSeconds", p.description, p.metadata,
  p.callback_url as "callbackUrl", p.redirect_url as "redirectUrl", p.external_id as "externalId",
  p.created_at as "createdAt", p.expires_at as "expiresAt", p.completed_at as "completedAt",
  p.canceled_at as "canceledAt", p.sequence, p.wake_at as "wakeAt"`;

const readPaymentsStatement = {
  name: 'payments-read',
  text: `select wanted.position::int, v.version, c.*
    from unnest($1::text[], $2::environment[], $3::text[], $4::text[])
      with ordinality as wanted(account_id, environment, id, version, position)
    join payments p using (account_id, environment, id)
    cross join lateral (select p.xmin::text || p.ctid::text as version) v
    left join lateral (select ${paymentColumns}) c on v.version is distinct from wanted.version`,
};

/** A row as it was read: `version` changes with every write to it, whoever wrote. `row` is null when it is the one known. */
export type ReadPayment = { version: string; row: PaymentRow | null };

/**
 * Many callers' payments in one round trip, each only within its own scope; null where there is none. Who names the
 * version it has is sent the row only if that is not the current one.
 */
export const readPayments = async (
  db: Queryable,
  wanted: readonly { scope: Scope; id: string; version: string | null }[],
): Promise<(ReadPayment | null)[]> => {
  const found: (ReadPayment | null)[] = wanted.map(() => null);
  const rows = await db.query<PaymentRow & { position: number; version: string }>(readPaymentsStatement, [
    wanted.map(w => w.scope.accountId),
    wanted.map(w => w.scope.environment),
    wanted.map(w => w.id),
    wanted.map(w => w.version),
  ]);
  for (const row of rows) found[row.position - 1] = { version: row.version, row: row.id === null ? null : row };
  return found;
};

const lockPaymentStatement = {
  name: 'payment-lock',
  text: `select ${paymentColumns} from payments p where account_id = $1 and environment = $2 and id = $3 for update`,
};
export const lockPayment = async (db: Queryable, scope: Scope, id: string): Promise<PaymentRow | null> =>
  (await db.query<PaymentRow>(lockPaymentStatement, [scope.accountId, scope.environment, id]))[0] ?? null;

const findByExternalIdStatement = {
  name: 'payment-by-external-id',
  text: `select id from payments where account_id = $1 and environment = $2 and external_id = $3`,
};
export const findByExternalId = async (db: Queryable, scope: Scope, externalId: string): Promise<string | null> =>
  (await db.query<{ id: string }>(findByExternalIdStatement, [scope.accountId, scope.environment, externalId]))[0]
    ?.id ?? null;

const duePaymentsStatement = {
  name: 'payments-due',
  text: `select due.* from network_status n cross join lateral (
      select p.account_id as "accountId", p.environment, p.id from payments p
      where p.environment = n.environment and p.network = n.network and p.wake_at <= least(clock_timestamp(), n.caught_up_at)
      order by p.wake_at limit $1
    ) due limit $1`,
};
/**
 * Payments whose time has come, by the clock and by what has been read of their chain. Asked network by network, so that
 * the backlog of one that has halted is not read again and again.
 */
export const duePayments = (db: Queryable, limit: number): Promise<(Scope & { id: string })[]> =>
  db.query<Scope & { id: string }>(duePaymentsStatement, [limit]);

const nowStatement = { name: 'payment-now', text: `select clock_timestamp()::timestamptz(3) as now` };
export const readNow = async (db: Queryable): Promise<Date> => (await db.query<{ now: Date }>(nowStatement))[0]!.now;

export type PaymentChange = {
  status: PaymentStatus;
  exception: PaymentException | null;
  amountReceived: bigint;
  amountConfirmed: bigint;
  completedAt: Date | null;
  canceledAt: Date | null;
  sequence: number;
  wakeAt: Date | null;
};

const updatePaymentStatement = {
  name: 'payment-update',
  text: `update payments set status = $4, exception = $5, amount_received = $6, amount_confirmed = $7, completed_at = $8,
      canceled_at = $9, sequence = $10, wake_at = $11
    where account_id = $1 and environment = $2 and id = $3`,
};
export const updatePayment = async (db: Queryable, scope: Scope, id: string, change: PaymentChange): Promise<void> => {
  await db.query(updatePaymentStatement, [
    scope.accountId,
    scope.environment,
    id,
    change.status,
    change.exception,
    change.amountReceived.toString(),
    change.amountConfirmed.toString(),
    change.completedAt,
    change.canceledAt,
    change.sequence,
    change.wakeAt,
  ]);
};

const rescheduleStatement = {
  name: 'payment-reschedule',
  text: `update payments set wake_at = $4 where account_id = $1 and environment = $2 and id = $3`,
};
export const rescheduleWake = async (db: Queryable, scope: Scope, id: string, wakeAt: Date | null): Promise<void> => {
  await db.query(rescheduleStatement, [scope.accountId, scope.environment, id, wakeAt]);
};
