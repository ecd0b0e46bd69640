import type { Environment, Scope } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';
import { sealsOf, toSeal } from '../seals.ts';
import { approvalsOf, needsSecondOwner, type WalletApproval } from './walletApprovals.ts';

/** Where a network's funds go, with the fields that its seal covers. */
export type WalletRow = {
  network: string;
  version: number;
  kind: 'forwarder' | 'xpub';
  destination: string;
  /** When a delayed change takes effect; null for a wallet that was in force at once. */
  takesEffectAtMs: number | null;
  /** The form of the seal: 1, in older rows, does not cover the version; 2 does. */
  seal: 1 | 2;
  /** Hexadecimal. */
  mac: string;
};

/** For `wallets w`: a wallet is in force from its time on, unless it was stopped before. */
export const isDue = '(w.takes_effect_at is null or w.takes_effect_at <= statement_timestamp())';
// A stop counts only if it came before the wallet took effect: a later one must not bring the previous wallet back.
export const isNotStopped = `not exists (select from wallet_stops x where x.account_id = w.account_id
  and x.environment = w.environment and x.network = w.network and x.version = w.version
  and x.stopped_at <= w.takes_effect_at)`;
const effectMs = `(extract(epoch from w.takes_effect_at) * 1000)::bigint`;

/**
 * The wallets in force now, one per network, as JSON. The database's clock decides at the moment of reading, so every
 * process sees a change at the same time.
 */
export const walletsInForce = (accountId: string, environment: string): string => `coalesce((
    select json_agg(json_build_object('network', w.network, 'version', w.version, 'kind', w.kind,
      'destination', w.destination, 'takesEffectAtMs', ${effectMs}, 'seal', w.seal, 'mac', encode(w.mac, 'hex')))
    from (select distinct on (w.network) w.* from wallets w
      where w.account_id = ${accountId} and w.environment = ${environment} and ${isDue} and ${isNotStopped}
      order by w.network, w.version desc) w
  ), '[]')`;

const lockStatement = {
  name: 'wallet-lock-settings',
  text: `select 1 as locked from account_settings where account_id = $1 and environment = $2 for update`,
};
const clockStatement = {
  name: 'wallet-clock',
  text: `select clock_timestamp()::timestamptz(3) as now, coalesce(max(version), 0) as latest
    from wallets where account_id = $1 and environment = $2 and network = $3`,
};
/** Locks the wallets of this scope until the transaction ends. Returns the time and the latest version. */
export const lockWallets = async (
  tx: Queryable,
  scope: Scope,
  network: string,
): Promise<{ now: Date; latest: number }> => {
  const values = [scope.accountId, scope.environment];
  await tx.query(lockStatement, values);
  // A separate statement, to see what was committed during the wait for the lock.
  return (await tx.query<{ now: Date; latest: number }>(clockStatement, [...values, network]))[0]!;
};

export type NewWallet = {
  network: string;
  version: number;
  kind: 'forwarder' | 'xpub';
  destination: string;
  mac: Buffer;
  createdAt: Date;
  takesEffectAt: Date | null;
  requestedBy: string | null;
};

const insertStatement = {
  name: 'wallet-insert',
  text: `insert into wallets as w (account_id, environment, network, version, kind, destination, mac, created_at,
      takes_effect_at, requested_by, seal)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 2) returning ${toSeal('wallets', 'w')}`,
};
export const insertWallet = async (tx: Queryable, scope: Scope, wallet: NewWallet): Promise<void> => {
  const { network, version, kind, destination, mac, createdAt, takesEffectAt, requestedBy } = wallet;
  const { accountId, environment } = scope;
  await tx.query(insertStatement, [
    accountId,
    environment,
    network,
    version,
    kind,
    destination,
    mac,
    createdAt,
    takesEffectAt,
    requestedBy,
  ]);
};

/** A wallet as it is shown to people. */
export type ShownWallet = Row &
  WalletRow & {
    environment: Environment;
    createdAt: Date;
    takesEffectAt: Date | null;
    requestedBy: string | null;
    verifiedAt: Date | null;
    /** Not in force yet. */
    pending: boolean;
    /** Whoever asked for the change, and whoever approved it. */
    approvals: WalletApproval[];
    needsSecondOwner: boolean;
  };

const shownColumns = `w.network, w.environment, w.version, w.kind, w.destination, w.seal, encode(w.mac, 'hex') as mac,
  w.created_at as "createdAt", w.takes_effect_at as "takesEffectAt", (${effectMs})::float8 as "takesEffectAtMs",
  w.requested_by as "requestedBy", v.verified_at as "verifiedAt", not ${isDue} as pending,
  ${approvalsOf} as approvals, ${needsSecondOwner} as "needsSecondOwner"`;
const withVerification = `left join wallet_verifications v on v.account_id = w.account_id
  and v.environment = w.environment and v.network = w.network and v.version = w.version`;

const listStatement = {
  name: 'wallet-list',
  text: `select distinct on (w.network, not ${isDue}) ${shownColumns} from wallets w ${withVerification}
    where w.account_id = $1 and w.environment = $2 and ${isNotStopped}
    order by w.network, not ${isDue}, w.version desc`,
};
/** The wallet in force and the pending one of each network. */
export const listWallets = (db: Queryable, scope: Scope): Promise<ShownWallet[]> =>
  db.query<ShownWallet>(listStatement, [scope.accountId, scope.environment]);

const pendingStatement = {
  name: 'wallet-pending',
  text: `select ${shownColumns} from wallets w ${withVerification}
    where w.account_id = $1 and w.takes_effect_at > statement_timestamp() and ${isNotStopped}
    order by w.takes_effect_at, w.network limit 100`,
};
/** All pending changes of an account, in both environments, the next one first. */
export const pendingWallets = (db: Queryable, accountId: string): Promise<ShownWallet[]> =>
  db.query<ShownWallet>(pendingStatement, [accountId]);

const toldStatement = {
  name: 'wallet-told',
  text: `select 1 as told from audit_log where account_id = $1 and subject = $3 and environment = $2
    and action in ('wallet.set', 'wallet.change_requested') limit 1`,
};
/**
 * Whether the audit log has a wallet of this network. Whoever owns the tables can hide wallets for a moment and put them
 * back; a row of the log that is missing breaks its chain.
 */
export const wasWalletTold = async (db: Queryable, scope: Scope, network: string): Promise<boolean> =>
  (await db.query(toldStatement, [scope.accountId, scope.environment, network])).length > 0;

const stopStatement = {
  name: 'wallet-stop',
  text: `insert into wallet_stops as x (account_id, environment, network, version, stopped_by, stopped_at)
    select w.account_id, w.environment, w.network, w.version, $5, statement_timestamp() from wallets w
    where w.account_id = $1 and w.environment = $2 and w.network = $3 and w.version = $4
      and w.takes_effect_at > statement_timestamp()
    on conflict do nothing returning x.version, ${toSeal('wallet_stops', 'x')}`,
};
/** False if the wallet is in force, was stopped before, or does not exist. */
export const stopWallet = async (
  tx: Queryable,
  scope: Scope,
  { network, version, stoppedBy }: { network: string; version: number; stoppedBy: string },
): Promise<boolean> => {
  const values = [scope.accountId, scope.environment, network, version, stoppedBy];
  return (await tx.query<{ version: number }>(stopStatement, values)).length > 0;
};

const verifyStatement = {
  name: 'wallet-verify',
  text: `insert into wallet_verifications (account_id, environment, network, version, verified_by)
    values ($1, $2, $3, $4, $5) on conflict do nothing returning version`,
};
/** False if it was verified before. */
export const verifyWallet = async (
  tx: Queryable,
  scope: Scope,
  { network, version, verifiedBy }: { network: string; version: number; verifiedBy: string },
): Promise<boolean> => {
  const values = [scope.accountId, scope.environment, network, version, verifiedBy];
  return (await tx.query<{ version: number }>(verifyStatement, values)).length > 0;
};

const latestStatement = {
  name: 'wallet-latest-of-destination',
  text: `select ${shownColumns} from wallets w ${withVerification}
    where w.account_id = $1 and w.environment = $2 and w.network = $3 and w.destination = $4 and ${isDue}
      and ${isNotStopped}
    order by w.version desc limit 1`,
};
/** The latest wallet with this destination that is in force on the network, or was. */
export const latestWalletOf = async (
  db: Queryable,
  scope: Scope,
  { network, destination }: { network: string; destination: string },
): Promise<ShownWallet | undefined> =>
  (await db.query<ShownWallet>(latestStatement, [scope.accountId, scope.environment, network, destination]))[0];

/** A contract on a network, and the SHA-256 of its code in hex. */
export type ConfirmedCode = { readonly network: string; readonly treasury: string; readonly codeHash: string };

const confirmStatement = {
  name: 'treasury-confirm',
  text: `insert into treasury_confirmations as t (account_id, environment, network, treasury, code_hash, confirmed_by)
    values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning 1 as added, ${toSeal('treasury_confirmations', 't')}`,
};
/** False if it was confirmed before. */
export const insertConfirmation = async (
  tx: Queryable,
  scope: Scope,
  { network, treasury, codeHash, by }: ConfirmedCode & { readonly by: string },
): Promise<boolean> =>
  (await tx.query(confirmStatement, [scope.accountId, scope.environment, network, treasury, codeHash, by])).length > 0;

const isConfirmedStatement = {
  name: 'treasury-is-confirmed',
  text: `select 1 as found, ${sealsOf({ t: 'treasury_confirmations' })} from treasury_confirmations t
    where t.account_id = $1 and t.environment = $2 and t.network = $3 and t.treasury = $4 and t.code_hash = $5`,
};
export const isConfirmed = async (
  db: Queryable,
  scope: Scope,
  { network, treasury, codeHash }: ConfirmedCode,
): Promise<boolean> =>
  (await db.query(isConfirmedStatement, [scope.accountId, scope.environment, network, treasury, codeHash])).length > 0;

const givenOutStatement = {
  name: 'wallet-given-out',
  text: `(select from payments where address = $1 limit 1) union all (select from lost_addresses where address = $1)`,
};
/** Whether the address ever belonged to a payment of any account, or may have before a restore. */
export const wasGivenOut = async (db: Queryable, address: string): Promise<boolean> =>
  (await db.query(givenOutStatement, [address])).length > 0;
