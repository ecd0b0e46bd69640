import type { Queryable, Row } from '../database.ts';

/** A message of the outbox, as it is stored. */
export type StoredOutgoing = Row & { readonly id: string; readonly kind: string; readonly content: Buffer };

const outboxStatement = {
  name: 'remade-outbox-page',
  text: 'select id, kind, content from outbox where id > $1 order by id limit $2',
};
export const readOutboxPage = (db: Queryable, after: string, limit: number): Promise<StoredOutgoing[]> =>
  db.query<StoredOutgoing>(outboxStatement, [after, limit]);

const rewriteStatement = {
  name: 'remade-outbox',
  text: `with picked as materialized (
      select o.id, s.content as new_content from unnest($1::text[], $2::bytea[], $3::bytea[]) as s(id, was, content)
      join outbox o on o.id = s.id and o.content = s.was for no key update of o skip locked
    )
    update outbox o set content = p.new_content from picked p where o.id = p.id returning 1 as n`,
};
/** Replaces contents that are still as they were. Returns how many. */
export const rewriteOutbox = async (
  db: Queryable,
  rows: readonly { readonly id: string; readonly was: Buffer; readonly content: Buffer }[],
): Promise<number> => {
  if (rows.length === 0) return 0;
  const values = [rows.map(row => row.id), rows.map(row => row.was), rows.map(row => row.content)];
  return (await db.query(rewriteStatement, values)).length;
};

const chainStatement = {
  name: 'remade-audit-log',
  text: `update audit_log l set hash = s.hash, previous_hash = s.previous_hash
    from unnest($2::bigint[], $3::bytea[], $4::bytea[]) as s(sequence, previous_hash, hash)
    where l.account_id = $1 and l.sequence = s.sequence`,
};
/** Replaces the hashes of rows of an account's audit log. */
export const rewriteAuditHashes = async (
  tx: Queryable,
  accountId: string,
  rows: readonly { readonly sequence: string; readonly previousHash: Buffer; readonly hash: Buffer }[],
): Promise<void> => {
  if (rows.length === 0) return;
  await tx.query(chainStatement, [
    accountId,
    rows.map(row => row.sequence),
    rows.map(row => row.previousHash),
    rows.map(row => row.hash),
  ]);
};

const headStatement = {
  name: 'remade-audit-head',
  text: 'update audit_heads set hash = $2, register = $3, row_seal = $4 where account_id = $1',
};
export const rewriteAuditHead = async (
  tx: Queryable,
  accountId: string,
  head: { readonly hash: Buffer; readonly register: string | null; readonly rowSeal: Buffer | null },
): Promise<void> => {
  await tx.query(headStatement, [accountId, head.hash, head.register, head.rowSeal]);
};

const headReadStatement = {
  name: 'remade-audit-head-read',
  text: `select sequence, hash, register, row_seal as "rowSeal" from audit_heads where account_id = $1`,
};
export type StoredHead = Row & { sequence: string; hash: Buffer; register: string | null; rowSeal: Buffer | null };
export const readAuditHead = async (db: Queryable, accountId: string): Promise<StoredHead | null> =>
  (await db.query<StoredHead>(headReadStatement, [accountId]))[0] ?? null;

const codelessStatement = {
  name: 'people-without-codes',
  text: `select id, email from people where removed_at is null and totp_secret is not null and recovery_hashes is null
    order by id limit $1`,
};
/** People with an authenticator and no recovery codes. */
export const listPeopleWithoutCodes = (
  db: Queryable,
  limit: number,
): Promise<(Row & { id: string; email: string })[]> => db.query(codelessStatement, [limit]);
