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
  p.accepted_at as "acceptedAt",  p.decimals, p.currency, p.network, p.caip2, p.contract, p.address, p.wallet_kind as "walletKind", p.treasury,
  p.derivation_index as "derivationIndex", p.mac, p.tiers, p.tolerance_bps as "toleranceBps",
  p.late_policy as "latePolicy", p.late_window_seconds as "lateWindowSeconds", p.description, p.metadata,
  p.callback_url as "callbackUrl", p.redirect_url as "redirectUrl", p.external_id as "externalId",
  p.created_at as "createdAt", p.expires_at as "expiresAt", p.completed_at as "completedAt",
  p.canceled_at as "canceledAt", p.sequence, p.wake_at as "wakeAt"`;

type Wanted = { readonly scope: Scope; readonly id: string };

const wantedColumns = (wanted: readonly Wanted[]): string[][] => [
  wanted.map(w => w.scope.accountId),
  wanted.map(w => w.scope.environment),
  wanted.map(w => w.id),
];

const fromWanted = `from unnest($1::text[], $2::environment[], $3::text[])
      with ordinality as wanted(account_id, environment, id, position)
    join payments p using (account_id, environment, id)`;
/** Changes with every write to the row, whoever wrote. */
const rowVersion = 'p.xmin::text || p.ctid::text as version';

const readPaymentsStatement = {
  name: 'payments-read',
  text: `select wanted.position::int, ${rowVersion}, ${paymentColumns} ${fromWanted}`,
};
export type VersionedPayment = PaymentRow & { version: string };

/** Many callers' payments in one round trip, each only within its own scope; null where there is none. */
export const readPayments = async (db: Queryable, wanted: readonly Wanted[]): Promise<(VersionedPayment | null)[]> => {
  const found: (VersionedPayment | null)[] = wanted.map(() => null);
  const rows = await db.query<VersionedPayment & { position: number }>(readPaymentsStatement, wantedColumns(wanted));
  for (const row of rows) found[row.position - 1] = row;
  return found;
};

const readVersionsStatement = {
  name: 'payments-versions',
  text: `select wanted.position::int, ${rowVersion} ${fromWanted}`,
};
/** The versions alone, for who has the rest: a tenth of the work on both sides. */
export const readPaymentVersions = async (db: Queryable, wanted: readonly Wanted[]): Promise<(string | null)[]> => {
  const found: (string | null)[] = wanted.map(() => null);
  const rows = await db.query<{ position: number; version: string }>(readVersionsStatement, wantedColumns(wanted));
  for (const row of rows) found[row.position - 1] = row.version;
  return found;
};

/** One payment of one tenant. */
export type PaymentKey = Scope & { id: string };

const keyColumns = (keys: readonly PaymentKey[]): unknown[] => [
  keys.map(key => key.accountId),
  keys.map(key => key.environment),
  keys.map(key => key.id),
];

/** In one order, so that two who lock several of the same rows never wait for each other. */
const lockText = `select ${paymentColumns}
  from unnest($1::text[], $2::environment[], $3::text[]) as k(account_id, environment, id)
    join payments p on p.account_id = k.account_id and p.environment = k.environment and p.id = k.id
  order by p.account_id, p.environment, p.id for update of p`;
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

const duePaymentsStatement = {
  name: 'payments-due',
  text: `select due.* from network_status n cross join lateral (
      select p.account_id as "accountId", p.environment, p.id from payments p
      where p.environment = n.environment and p.network = n.network and p.caip2 = n.caip2
        and p.wake_at <= least(clock_timestamp(), n.caught_up_at)
      order by p.wake_at limit $1
    ) due`,
};
/**
 * Payments whose time has come, by the clock and by what has been read of their chain, up to `share` of each network.
 * Asked network by network, so that no backlog keeps the others waiting, and that of one which has halted is not read
 * again and again.
 */
export const duePayments = (db: Queryable, share: number): Promise<PaymentKey[]> =>
  db.query<PaymentKey>(duePaymentsStatement, [share]);

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
  wakeAt: Date | null;
};

const updatePaymentsStatement = {
  name: 'payments-update',
  text: `update payments p set status = c.status, exception = c.exception, amount_received = c.amount_received,
      amount_confirmed = c.amount_confirmed, amount_accepted = c.amount_accepted, accepted_at = c.accepted_at,
      completed_at = c.completed_at, canceled_at = c.canceled_at, sequence = c.sequence, wake_at = c.wake_at
    from unnest($1::text[], $2::environment[], $3::text[], $4::payment_status[], $5::payment_exception[], $6::numeric[],
      $7::numeric[], $8::numeric[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::integer[],
      $13::timestamptz[])
    as c(account_id, environment, id, status, exception, amount_received, amount_confirmed, amount_accepted, accepted_at,
      completed_at, canceled_at, sequence, wake_at)
    where p.account_id = c.account_id and p.environment = c.environment and p.id = c.id`,
};
/** Each payment at most once a call: the database checks one edge an update. */
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
  ]);
};

const postponeStatement = {
  name: 'payments-postpone',
  text: `update payments p set wake_at = clock_timestamp() + $4 * interval '1 second'
    from unnest($1::text[], $2::environment[], $3::text[]) as late(account_id, environment, id)
    where p.account_id = late.account_id and p.environment = late.environment and p.id = late.id
      and p.wake_at <= clock_timestamp()`,
};
/** Lets payments that are due and cannot be decided wait, so that the others come first. */
export const postponePayments = async (
  db: Queryable,
  keys: readonly PaymentKey[],
  delaySeconds: number,
): Promise<void> => {
  await db.query(postponeStatement, [...keyColumns(keys), delaySeconds]);
};
