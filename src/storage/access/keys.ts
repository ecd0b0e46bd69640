import type { Permission } from '../../core/access/rights.ts';
import type { Environment, Scope } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';
import { sealedUpdate, sealsOf, toSeal } from '../seals.ts';

export type KeyRow = Row & {
  id: string;
  accountId: string;
  environment: Environment;
  name: string;
  hint: string;
  scopes: Permission[];
  ipAllow: string[] | null;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  successorId: string | null;
  /** The person who made it; null for the operator. */
  createdBy: string | null;
};

/** For the alias t. */
const keyColumns = `t.id, t.account_id as "accountId", t.environment, t.name, t.hint, t.scopes,
  t.ip_allow::text[] as "ipAllow", t.created_at as "createdAt", t.expires_at as "expiresAt", t.revoked_at as "revokedAt",
  t.successor_id as "successorId", t.created_by as "createdBy"`;
const read = `${keyColumns}, ${sealsOf({ t: 'api_keys' })}`;

const insertKeyStatement = {
  name: 'key-insert',
  text: `insert into api_keys as t (account_id, environment, id, name, hash, hint, scopes, ip_allow, created_at, expires_at,
      created_by)
    values ($1, $2, $3, $4, $5, $6, $7, (select array_agg(network(block::inet)) from unnest($8::text[]) block), $9, $10, $11)
    returning ${keyColumns}, ${toSeal('api_keys', 't')}`,
};
export const insertKey = async (
  db: Queryable,
  key: Omit<KeyRow, 'revokedAt' | 'successorId'> & { hash: Buffer },
): Promise<KeyRow> => {
  const { accountId, environment, id, name, hash, hint, scopes, ipAllow, createdAt, expiresAt, createdBy } = key;
  const values = [accountId, environment, id, name, hash, hint, scopes, ipAllow, createdAt, expiresAt, createdBy];
  return (await db.query<KeyRow>(insertKeyStatement, values))[0]!;
};

const listKeysStatement = {
  name: 'key-list',
  text: `select ${read} from api_keys t where t.account_id = $1 order by t.id limit 1000`,
};
export const listKeys = (db: Queryable, accountId: string): Promise<KeyRow[]> =>
  db.query<KeyRow>(listKeysStatement, [accountId]);

const shownLimit = 500;
const listShownStatement = {
  name: 'key-list-shown',
  text: `select k.*, u.last_used_at as "lastUsedAt" from (
      select ${read} from api_keys t where t.account_id = $1 and t.environment = $2 order by t.id desc limit ${shownLimit}) k
    left join key_uses u on u.account_id = $1 and u.environment = $2 and u.key_id = k.id order by k.id desc`,
};
/** Keys of one environment, newest first, with the last use of each. */
export const listShownKeys = (db: Queryable, scope: Scope): Promise<(KeyRow & { lastUsedAt: Date | null })[]> =>
  db.query(listShownStatement, [scope.accountId, scope.environment]);

const listMadeStatement = {
  name: 'key-list-made',
  text: `select ${read} from api_keys t where t.account_id = $1 and t.created_by = $2 and t.revoked_at is null
    and (t.expires_at is null or t.expires_at > clock_timestamp()) order by t.id`,
};
/** The keys that a person made in an account and that still work. */
export const listMadeKeys = (db: Queryable, accountId: string, personId: string): Promise<KeyRow[]> =>
  db.query<KeyRow>(listMadeStatement, [accountId, personId]);

const countLiveStatement = {
  name: 'key-count-live',
  text: `select count(*)::int as total from api_keys where account_id = $1 and environment = $2 and revoked_at is null
    and (expires_at is null or expires_at > clock_timestamp())`,
};
/** Counts forged keys too: a high count only refuses. */
export const countLiveKeys = async (tx: Queryable, scope: Scope): Promise<number> =>
  (await tx.query<{ total: number }>(countLiveStatement, [scope.accountId, scope.environment]))[0]!.total;

const lockKeyStatement = { name: 'key-lock', text: `select ${read} from api_keys t where t.id = $1 for update` };
export const lockKey = async (db: Queryable, id: string): Promise<KeyRow | null> =>
  (await db.query<KeyRow>(lockKeyStatement, [id]))[0] ?? null;

const readKeyStatement = { name: 'key-read', text: `select ${read} from api_keys t where t.id = $1` };
export const readKey = async (db: Queryable, id: string): Promise<KeyRow | null> =>
  (await db.query<KeyRow>(readKeyStatement, [id]))[0] ?? null;

const revokeKeyStatement = {
  name: 'key-revoke',
  text: sealedUpdate('api_keys', {
    set: { revoked_at: 'coalesce(t.revoked_at, clock_timestamp())' },
    where: 't.id = $1',
    returning: keyColumns,
  }),
};
export const revokeKey = async (db: Queryable, id: string): Promise<KeyRow | null> =>
  (await db.query<KeyRow>(revokeKeyStatement, [id]))[0] ?? null;

const succeedKeyStatement = {
  name: 'key-succeed',
  text: sealedUpdate('api_keys', {
    set: {
      successor_id: '$2',
      expires_at: 'least(t.expires_at, clock_timestamp() + make_interval(secs => $3))',
      revoked_at: 'case when $3 = 0 then clock_timestamp() end',
    },
    where: 't.id = $1',
  }),
};
/**
 * The old key stays valid for the overlap, or until its own expiry if that is earlier; without an overlap it is
 * revoked.
 */
export const succeedKey = async (
  db: Queryable,
  id: string,
  successorId: string,
  overlapSeconds: number,
): Promise<void> => {
  await db.query(succeedKeyStatement, [id, successorId, overlapSeconds]);
};

const anyKeyStatement = { name: 'key-any', text: 'select exists (select from api_keys) as found' };
export const hasAnyKey = async (db: Queryable): Promise<boolean> =>
  (await db.query<{ found: boolean }>(anyKeyStatement))[0]!.found;
