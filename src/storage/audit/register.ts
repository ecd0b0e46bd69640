import { createHash } from 'node:crypto';
import type { Queryable, Row } from '../database.ts';
import { forgetChanges, type SealedChange, sealedChanges } from '../keepSeals.ts';
import { type SealedTableName, sealedText, type Vouched } from '../seals.ts';

/** The tables whose rows an account's register lists. A seal cannot show that an earlier row was put back; this does. */
const registeredTables = [
  'account_settings',
  'api_keys',
  'memberships',
  'restore_reviews',
  'wallet_approvals',
  'wallet_stops',
  'wallets',
  'webhook_endpoints',
] as const satisfies readonly SealedTableName[];
type RegisteredTable = (typeof registeredTables)[number];

/**
 * The column that says that a row has ended. Registers leave such rows out: there may be any number of them, and each
 * request of a key reads the register. An earlier row that had not ended is still noticed when it is put back.
 */
const endColumns: Partial<Record<SealedTableName, string>> = {
  api_keys: 'revoked_at',
  memberships: 'removed_at',
  webhook_endpoints: 'deleted_at',
};
const notEnded = (table: RegisteredTable): string => {
  const column = endColumns[table];
  return column === undefined ? '' : ` and r.${column} is null`;
};
const hasEnded = (table: SealedTableName, text: string): boolean => {
  const column = endColumns[table];
  return column !== undefined && column in (JSON.parse(text) as Record<string, unknown>);
};

export const isRegistered = (table: string): table is RegisteredTable =>
  (registeredTables as readonly string[]).includes(table);

const digits = 32;

/** A row in the register: its table, and a hash of what its seal covers. */
const lineOf = (table: SealedTableName, text: string): string =>
  `${table} ${createHash('sha256').update(text).digest('hex').slice(0, digits)}`;

/** Named with their schema, as in seals: other functions could answer with the register of before. */
const sha256 = (text: string): string =>
  `pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(${text}, 'UTF8')), 'hex')`;

const lineText = (table: RegisteredTable, text: string): string =>
  `('${table} ' || pg_catalog.left(${sha256(text)}, ${digits}))`;

const registerText = (
  accountId: string,
): string => `(select coalesce(pg_catalog.string_agg(line, E'\\n' order by line), '') from (
    ${registeredTables
      .map(
        table =>
          `select ${lineText(table, sealedText(table, 'r'))} collate "C" as line from ${table} r where r.account_id = ${accountId}${notEnded(table)}`,
      )
      .join(' union all ')}
  ) lines)`;

const headWith = (digest: string): string => `pg_catalog.json_build_object('accountId', h.account_id,
      'sequence', h.sequence::text, 'hash', pg_catalog.encode(h.hash, 'hex'), 'seal', pg_catalog.encode(h.row_seal, 'hex'),
      'digest', ${digest},
      'newest', (select pg_catalog.json_build_object('sequence', l.sequence::text, 'hash', pg_catalog.encode(l.hash, 'hex'))
        from audit_log l where l.account_id = h.account_id order by l.sequence desc limit 1))`;

/**
 * For a `select`: the state of an account's register, read at the same moment as the rows that are used. The database layer
 * says whether it is true. An earlier end of the log has a genuine seal, so it must name the newest row.
 */
export const registerState = (accountId: string): string => `(
    select ${headWith(sha256(registerText('h.account_id')))}
    from audit_heads h where h.account_id = ${accountId}) as vouched`;

/**
 * For a row `h` of `audit_heads`: a state as above, but of the register as it was written there. With `isListed`, a few rows
 * are held against it without reading the others of the account.
 */
export const keptRegisterState = headWith(sha256('h.register'));

/** Whether a register lists the row whose seal covers `text`. */
export const isListed = (register: string, table: RegisteredTable, text: string): string =>
  `pg_catalog.strpos(${register}, ${lineText(table, text)}) > 0`;

/** `keptDigest` is of the register as the end of the log has it, to compare with the next one. */
export type AccountRegister = Row & {
  readonly accountId: string;
  readonly vouched: Vouched | null;
  readonly keptDigest: string | null;
};

const stateStatement = {
  name: 'register-states',
  text: `select a.id as "accountId", ${registerState('a.id')},
      (select ${sha256('h.register')} from audit_heads h
        where h.account_id = a.id) as "keptDigest"
    from accounts a
    where ($1::text[] is null or a.id = any($1)) and ($2::text is null or a.id > $2) order by a.id limit $3`,
};
export const readRegisterStates = (
  db: Queryable,
  which: { accountIds: readonly string[] | null; after: string | null; limit: number },
): Promise<AccountRegister[]> => db.query(stateStatement, [which.accountIds, which.after, which.limit]);

const actStatement = {
  name: 'register-act',
  text: `select exists (select from audit_log where register is not null) as "isThere"`,
};
/** Whether an act was recorded since there are registers. The service can neither delete such a row nor change it. */
export const hasRegisteredAct = async (db: Queryable): Promise<boolean> =>
  (await db.query<Row & { isThere: boolean }>(actStatement))[0]!.isThere;

const unsealedHeadStatement = {
  name: 'register-unsealed-head',
  text: `select exists (select from accounts a left join audit_heads h on h.account_id = a.id
    where h.row_seal is null) as "isThere"`,
};
/** Whether there is an account whose register was never sealed. */
export const hasUnsealedRegister = async (db: Queryable): Promise<boolean> =>
  (await db.query<Row & { isThere: boolean }>(unsealedHeadStatement))[0]!.isThere;

const readStatement = { name: 'register-read', text: `select ${registerText('$1')} as register` };
/** The register as the tables are now: sorted lines. */
export const readRegister = async (tx: Queryable, accountId: string): Promise<string> =>
  (await tx.query<Row & { register: string }>(readStatement, [accountId]))[0]!.register;

export const registerDigest = (register: string): Buffer => createHash('sha256').update(register).digest();

type RegisteredChange = SealedChange & { readonly accountId: string };

const accountOf = ({ after }: SealedChange): string => (JSON.parse(after) as { account_id: string }).account_id;
const isOfRegister = ({ table, before, after }: SealedChange): boolean => isRegistered(table) && before !== after;

/** What a transaction changed in registers and no audit row vouches for yet. */
export const registeredChanges = (tx: Queryable): RegisteredChange[] =>
  sealedChanges(tx)
    .filter(isOfRegister)
    .map(change => ({ ...change, accountId: accountOf(change) }));

/** An audit row vouches for the register as it is now. */
export const settleRegister = (tx: Queryable, accountId: string): void =>
  forgetChanges(tx, change => isOfRegister(change) && accountOf(change) === accountId);

/** The register that follows from the one before and what a transaction changed. */
export const expectedRegister = (tx: Queryable, before: string, accountId: string): string => {
  const lines = before === '' ? [] : before.split('\n');
  for (const change of registeredChanges(tx)) {
    if (change.accountId !== accountId) continue;
    const old = change.before === null ? -1 : lines.indexOf(lineOf(change.table, change.before));
    if (old >= 0) lines.splice(old, 1);
    if (!hasEnded(change.table, change.after)) lines.push(lineOf(change.table, change.after));
  }
  return lines.sort().join('\n');
};
