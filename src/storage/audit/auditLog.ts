import type { Environment } from '../../core/environment.ts';
import type { Queryable } from '../database.ts';

export type AuditLogRow = {
  accountId: string;
  sequence: string;
  at: Date;
  environment: Environment | null;
  actorKind: 'key' | 'person' | 'operator' | 'system';
  actorId: string | null;
  actorName: string;
  action: string;
  subject: string | null;
  /** JSON as it is stored, to the byte. */
  detail: string;
  address: string | null;
  previousHash: Buffer;
  hash: Buffer;
  /** The hash of the account's register; null in rows from before there was one. */
  register: Buffer | null;
};

export type AuditHead = {
  sequence: string;
  hash: Buffer;
  register: string | null;
  rowSeal: Buffer | null;
  now: Date;
};

/** The hash before the first row of a log. */
export const chainStart = Buffer.alloc(32);

const lockHeadStatement = {
  name: 'audit-head-lock',
  text: `insert into audit_heads (account_id, sequence, hash) values ($1, 0, $2)
    on conflict (account_id) do update set account_id = excluded.account_id
    returning sequence, hash, register, row_seal as "rowSeal", date_trunc('milliseconds', clock_timestamp()) as now`,
};
/** Locks the end of the account's chain until the transaction ends. */
export const lockAuditHead = async (tx: Queryable, accountId: string): Promise<AuditHead> =>
  (await tx.query<AuditHead>(lockHeadStatement, [accountId, chainStart]))[0]!;

const insertStatement = {
  name: 'audit-insert',
  text: `with head as (
      update audit_heads set sequence = $2, hash = $13, register = $15, row_seal = $16 where account_id = $1
    )
    insert into audit_log (account_id, sequence, at, environment, actor_kind, actor_id, actor_name, action, subject, detail,
      address, previous_hash, hash, register)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
};
export const insertAuditRow = async (
  tx: Queryable,
  row: AuditLogRow,
  head: { register: string; rowSeal: Buffer },
): Promise<void> => {
  await tx.query(insertStatement, [
    row.accountId,
    row.sequence,
    row.at,
    row.environment,
    row.actorKind,
    row.actorId,
    row.actorName,
    row.action,
    row.subject,
    row.detail,
    row.address,
    row.previousHash,
    row.hash,
    row.register,
    head.register,
    head.rowSeal,
  ]);
};

const sealHeadStatement = {
  name: 'audit-head-seal',
  text: `update audit_heads set register = $2, row_seal = $3 where account_id = $1`,
};
export const sealAuditHead = async (
  tx: Queryable,
  accountId: string,
  head: { register: string; rowSeal: Buffer },
): Promise<void> => {
  await tx.query(sealHeadStatement, [accountId, head.register, head.rowSeal]);
};

/** For the alias a. */
export const auditColumns = `a.account_id as "accountId", a.sequence, a.at, a.environment, a.actor_kind as "actorKind",
  a.actor_id as "actorId", a.actor_name as "actorName", a.action, a.subject, a.detail::text as detail, a.address,
  a.previous_hash as "previousHash", a.hash, a.register`;

const listStatement = {
  name: 'audit-list',
  text: `select ${auditColumns} from audit_log a
    where account_id = $1 and ($2::text is null or action = $2) and ($3::text is null or actor_id = $3)
      and sequence < $4 order by sequence desc limit $5`,
};
/** Newest first, below the sequence `before`. */
export const listAuditRows = (
  db: Queryable,
  accountId: string,
  filter: { action: string | null; actor: string | null; before: string; limit: number },
): Promise<AuditLogRow[]> =>
  db.query<AuditLogRow>(listStatement, [accountId, filter.action, filter.actor, filter.before, filter.limit]);

const recentStatement = {
  name: 'audit-recent',
  text: `select found.* from unnest($3::text[]) as asked(action) cross join lateral (
      select ${auditColumns} from audit_log a where account_id = $1 and action = asked.action
        and environment is distinct from 'sandbox'
        and (action <> all($6::text[]) or 'owner' in (detail ->> 'role', detail ->> 'from', detail ->> 'to'))
      order by sequence desc limit $5) found
    join memberships m on m.account_id = $1 and m.person_id = $2
    where found.at > greatest(clock_timestamp() - $4 * interval '1 day', m.created_at + interval '1 minute')
    order by found.sequence::bigint desc`,
};
/**
 * Rows of these actions for a member, newest first: of the last days, and not from before they joined or while they did.
 * `limit` is for each action, so that many rows of one cannot hide the others.
 */
export const listRecentActions = (
  db: Queryable,
  member: { readonly accountId: string; readonly personId: string },
  filter: {
    readonly actions: readonly string[];
    /** Those that count only if the role of an owner is in them. */
    readonly ofOwners: readonly string[];
    readonly days: number;
    readonly limit: number;
  },
): Promise<AuditLogRow[]> => {
  const { accountId, personId } = member;
  const { actions, ofOwners, days, limit } = filter;
  return db.query<AuditLogRow>(recentStatement, [accountId, personId, actions, days, limit, ofOwners]);
};

const subjectStatement = {
  name: 'audit-by-subject',
  text: `select ${auditColumns} from audit_log a where account_id = $1 and subject = $2 order by sequence desc limit $3`,
};
/** Rows about one subject, newest first. */
export const listAuditOfSubject = (
  db: Queryable,
  accountId: string,
  subject: string,
  limit: number,
): Promise<AuditLogRow[]> => db.query<AuditLogRow>(subjectStatement, [accountId, subject, limit]);

const chainStatement = {
  name: 'audit-chain',
  text: `select ${auditColumns} from audit_log a where account_id = $1 and sequence > $2 order by sequence limit $3`,
};
/** Oldest first, for verification. */
export const readAuditChain = (
  db: Queryable,
  accountId: string,
  after: string,
  limit: number,
): Promise<AuditLogRow[]> => db.query<AuditLogRow>(chainStatement, [accountId, after, limit]);

const rowsStatement = {
  name: 'audit-rows',
  text: `select ${auditColumns} from audit_log a where (account_id, sequence) in (
    select * from unnest($1::text[], $2::bigint[]))`,
};
/** Rows by account and sequence. */
export const readAuditRows = (
  db: Queryable,
  asked: readonly { accountId: string; sequence: string }[],
): Promise<AuditLogRow[]> =>
  db.query<AuditLogRow>(rowsStatement, [asked.map(each => each.accountId), asked.map(each => each.sequence)]);

const headsStatement = {
  name: 'audit-heads',
  text: `select a.id as "accountId", coalesce(h.sequence, 0) as sequence, h.hash, h.row_seal as seal,
      pg_catalog.sha256(convert_to(h.register, 'UTF8')) as "registerDigest"
    from accounts a left join audit_heads h on h.account_id = a.id where a.id > $1 order by a.id limit $2`,
};
export type AuditEnd = {
  accountId: string;
  sequence: string;
  hash: Buffer | null;
  /** Null where there is no row yet. */
  seal: Buffer | null;
  registerDigest: Buffer | null;
};
/** The end of every account's chain, with sequence 0 for an account without rows, page by page. */
export const readAuditHeads = (db: Queryable, after: string, limit: number): Promise<AuditEnd[]> =>
  db.query<AuditEnd>(headsStatement, [after, limit]);
