import type { Queryable, Row } from '../database.ts';
import { type SealedTableName, sealedTables, sealedText } from '../seals.ts';

/** A row that is sealed anew. `key` is JSON. `part` is the value that is made anew with it, in the column of that name. */
export type RemadeRow = {
  readonly key: string;
  readonly was: Buffer;
  readonly seal: Buffer;
  readonly part: Buffer | null;
};
type Table = { readonly table: string; readonly key: readonly string[]; readonly part: string | null };

const matches = (key: readonly string[], one: string, other: string): string =>
  key.map(name => `${one}.${name} = ${other}.${name}`).join(' and ');

/**
 * Writes seals. A row whose seal is another by now was written meanwhile, and a row that is locked is left for the next
 * round: to wait for it could block, or be blocked by, the transactions of the service. Returns how many were written.
 */
export const writeRemadeRows = async (
  db: Queryable,
  { table, key, part }: Table,
  rows: readonly RemadeRow[],
): Promise<number> => {
  if (rows.length === 0) return 0;
  const statement = {
    name: `remade-${table}`,
    text: `with picked as materialized (
        select ${key.map(name => `t.${name}`).join(', ')}, s.seal as new_seal, s.part as new_part
        from unnest($1::text[], $2::bytea[], $3::bytea[], $4::bytea[]) as s(key, was, seal, part)
          cross join lateral jsonb_populate_record(null::${table}, s.key::jsonb) as o
          join ${table} t on ${matches(key, 't', 'o')} and t.row_seal = s.was
        for no key update of t skip locked
      )
      update ${table} t set row_seal = p.new_seal${part === null ? '' : `, ${part} = coalesce(p.new_part, t.${part})`}
      from picked p where ${matches(key, 't', 'p')} returning 1 as n`,
  };
  const columns = [rows.map(row => row.key), rows.map(row => row.was), rows.map(row => row.seal)];
  return (await db.query(statement, [...columns, rows.map(row => row.part)])).length;
};

/** The columns of small sealed tables with values that are made with the master key. */
export const keyedColumns = {
  account_settings: ['callback_secret'],
  people: ['totp_secret', 'totp_pending', 'recovery_hashes', 'earlier_totp_secret', 'earlier_recovery_hashes'],
  webhook_endpoints: ['secret', 'previous_secrets'],
  wallets: ['mac', 'seal'],
} as const satisfies Partial<Record<SealedTableName, readonly string[]>>;
export type KeyedTable = keyof typeof keyedColumns;

export const isKeyedTable = (table: string): table is KeyedTable => table in keyedColumns;

/**
 * Locks a row that still says this and has this seal: its content may have been changed since it was verified. Returns
 * false if it was changed, or if another transaction has it.
 */
export const lockSealedRow = async (
  tx: Queryable,
  table: KeyedTable,
  { text, seal }: { readonly text: string; readonly seal: Buffer },
): Promise<boolean> => {
  const statement = {
    name: `remade-lock-${table}`,
    text: `select 1 as n from ${table} t join jsonb_populate_record(null::${table}, $1::text::jsonb) as o
        on ${matches(sealedTables[table].key, 't', 'o')}
      where t.row_seal = $2 and ${sealedText(table, 't')} = $1::text for no key update of t skip locked`,
  };
  return (await tx.query(statement, [text, seal])).length > 0;
};

/** Replaces the keyed columns of a row, which counts as a change. Returns what its seal covers now. `values` has them as JSON, all of them. */
export const replaceKeyedColumns = async (
  tx: Queryable,
  table: KeyedTable,
  text: string,
  values: Readonly<Record<string, unknown>>,
): Promise<string> => {
  const raised = table === 'people' ? ', revision = coalesce(t.revision, 0) + 1' : '';
  const statement = {
    name: `remade-columns-${table}`,
    text: `update ${table} t set ${keyedColumns[table].map(name => `${name} = v.${name}`).join(', ')}${raised}
      from jsonb_populate_record(null::${table}, $1::text::jsonb) as o,
        jsonb_populate_record(null::${table}, $2::text::jsonb) as v
      where ${matches(sealedTables[table].key, 't', 'o')} returning ${sealedText(table, 't')} as text`,
  };
  const rows = await tx.query<Row & { text: string }>(statement, [text, JSON.stringify(values)]);
  return rows[0]!.text;
};

/** A row of an account with its seal. */
export type OwnedRow = Row & { readonly text: string; readonly seal: Buffer | null };

/** Tables whose rows belong to an account. */
export type OwnedTable = Extract<KeyedTable, 'account_settings' | 'wallets' | 'webhook_endpoints'>;

const ownedStatement = (table: OwnedTable) => ({
  name: `remade-owned-${table}`,
  text: `select ${sealedText(table, 't')} as text, t.row_seal as seal from ${table} t where t.account_id = $1
    order by ${sealedTables[table].key.map(name => `t.${name}`).join(', ')}`,
});
/** Rows of an account, in the order of their keys. */
export const readOwnedRows = (db: Queryable, table: OwnedTable, accountId: string) =>
  db.query<OwnedRow>(ownedStatement(table), [accountId]);

const lockOwnedStatement = (table: OwnedTable) => {
  const { name, text } = ownedStatement(table);
  return { name: `${name}-locked`, text: `${text} for no key update` };
};
export const lockOwnedRows = (tx: Queryable, table: OwnedTable, accountId: string) =>
  tx.query<OwnedRow>(lockOwnedStatement(table), [accountId]);
