import type { Permission } from '../../core/access/rights.ts';
import type { Environment, Scope } from '../../core/environment.ts';
import type { Plan } from '../../core/plans.ts';
import { registerState } from '../audit/register.ts';
import type { Queryable, Row } from '../database.ts';
import { sealsOf, toSeal, type Vouched } from '../seals.ts';
import { type WalletRow, walletsInForce } from '../wallets/wallets.ts';

export type AccountRow = {
  id: string;
  name: string;
  plan: Plan;
  rateLimit: number | null;
  burst: number | null;
  createdAt: Date;
};

const insertAccountStatement = {
  name: 'account-insert',
  text: `insert into accounts as t (id, name, plan, rate_limit, burst, created_at) values ($1, $2, $3, $4, $5, $6)
    returning ${toSeal('accounts', 't')}`,
};
export const insertAccount = async (db: Queryable, account: AccountRow): Promise<void> => {
  const { id, name, plan, rateLimit, burst, createdAt } = account;
  await db.query(insertAccountStatement, [id, name, plan, rateLimit, burst, createdAt]);
};

const accountColumns = `a.id, a.name, a.plan, a.rate_limit as "rateLimit", a.burst, a.created_at as "createdAt",
  ${sealsOf({ a: 'accounts' })}`;

const listAccountsStatement = {
  name: 'account-list',
  text: `select ${accountColumns} from accounts a order by a.id limit 1000`,
};
export const listAccounts = (db: Queryable): Promise<AccountRow[]> => db.query<AccountRow>(listAccountsStatement);

/** Read from the list, because a forged account before it must not hide it. */
export const firstAccount = async (db: Queryable): Promise<AccountRow | null> => (await listAccounts(db))[0] ?? null;

const onlyAccountStatement = {
  name: 'accounts-only',
  text: `select count(*) = 1 as "isOnly" from (select from accounts limit 2) as counted`,
};
export const isOnlyAccount = async (db: Queryable): Promise<boolean> =>
  (await db.query<{ isOnly: boolean }>(onlyAccountStatement))[0]!.isOnly;

const readAccountStatement = { name: 'account-read', text: `select ${accountColumns} from accounts a where a.id = $1` };
export const readAccount = async (db: Queryable, id: string): Promise<AccountRow | null> =>
  (await db.query<AccountRow>(readAccountStatement, [id]))[0] ?? null;

const insertSettingsStatement = {
  name: 'account-settings-insert',
  text: `insert into account_settings as t (account_id, environment, callback_secret) values ($1, $2, $3)
    returning ${toSeal('account_settings', 't')}`,
};
export const insertSettings = async (
  db: Queryable,
  accountId: string,
  environment: Environment,
  callbackSecret: Buffer,
): Promise<void> => {
  await db.query(insertSettingsStatement, [accountId, environment, callbackSecret]);
};

const readCallbackSecretStatement = {
  name: 'account-callback-secret',
  text: `select s.callback_secret as "callbackSecret", ${sealsOf({ s: 'account_settings' })}
    from account_settings s where s.account_id = $1 and s.environment = $2`,
};
export const readCallbackSecret = async (
  db: Queryable,
  accountId: string,
  environment: Environment,
): Promise<Buffer | null> =>
  (await db.query<{ callbackSecret: Buffer }>(readCallbackSecretStatement, [accountId, environment]))[0]
    ?.callbackSecret ?? null;

/** Everything a request needs to know about its caller, read in one statement and cached for half a second. */
export type Caller = Row & {
  keyId: string;
  accountId: string;
  environment: Environment;
  /** Names the rate limit bucket: all keys of an account share one per environment. */
  countedUnder: string;
  plan: Plan;
  rateLimit: number | null;
  burst: number | null;
  scopes: Permission[];
  ipAllow: string[] | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  toleranceBps: number;
  /** Null: by currency. */
  latePolicy: 'accept' | 'manual' | null;
  lateWindowSeconds: number;
  wallets: WalletRow[];
  /** Whether key and wallets are those that the audit log vouches for follows from it. */
  vouched: Vouched | null;
};

/** What a new payment copies from its account: the terms to freeze, and the wallets. */
export type PaymentTerms = Pick<
  Caller,
  'accountId' | 'environment' | 'toleranceBps' | 'latePolicy' | 'lateWindowSeconds' | 'wallets' | 'vouched'
>;

/** For the alias s of account_settings, with the wallet in force for each network. */
const termsColumns = `s.account_id as "accountId", s.environment, s.tolerance_bps as "toleranceBps",
      s.late_policy as "latePolicy", s.late_window_seconds as "lateWindowSeconds",
      ${walletsInForce('s.account_id', 's.environment')} as wallets, ${registerState('s.account_id')}`;

const readTermsStatement = {
  name: 'account-payment-terms',
  text: `select ${termsColumns}, ${sealsOf({ s: 'account_settings' })} from account_settings s where s.account_id = $1 and s.environment = $2`,
};
export const readPaymentTerms = async (db: Queryable, scope: Scope): Promise<PaymentTerms | null> =>
  (await db.query<Row & PaymentTerms>(readTermsStatement, [scope.accountId, scope.environment]))[0] ?? null;

const readCallersStatement = {
  name: 'callers-read',
  text: `select encode(k.hash, 'hex') as hash, k.id as "keyId", s.account_id || '/' || s.environment as "countedUnder",
      a.plan, a.rate_limit as "rateLimit", a.burst, k.scopes, k.ip_allow::text[] as "ipAllow",
      k.expires_at as "expiresAt", k.revoked_at as "revokedAt", ${termsColumns},
      ${sealsOf({ k: 'api_keys', a: 'accounts', s: 'account_settings' })}
    from api_keys k
    join accounts a on a.id = k.account_id
    join account_settings s on s.account_id = k.account_id and s.environment = k.environment
    where k.hash = any($1)`,
};
/** Hashes are hexadecimal text, the form in which callers are cached. */
export const readCallers = (db: Queryable, hashes: readonly string[]): Promise<(Caller & { hash: string })[]> =>
  db.query<Caller & { hash: string }>(readCallersStatement, [hashes.map(hash => Buffer.from(hash, 'hex'))]);
