import { FlorinError } from '../core/errors.ts';
import type { Queryable, Row } from './database.ts';
import type { Floors } from './floors.ts';
import { isSealedAs, type RowSealer } from './largeSeals.ts';

/** A table whose rows are sealed as a whole, and the columns that are not, each with the reason. */
type SealedTable = {
  readonly key: readonly string[];
  readonly open?: Readonly<Record<string, string>>;
  /** A column that goes up with each update. */
  readonly revision?: string;
};

/**
 * Every column is covered unless it is listed as open, so a column that is added later is covered by itself. Such a column
 * must be nullable: a null is left out of the text, so older seals stay right.
 */
export const sealedTables = {
  accounts: { key: ['id'] },
  account_settings: {
    key: ['account_id', 'environment'],
    open: { brand_logo: 'its name, which is sealed, has the hash of its bytes' },
  },
  api_keys: { key: ['account_id', 'environment', 'id'] },
  people: { key: ['id'], revision: 'revision' },
  passkeys: {
    key: ['person_id', 'id'],
    open: { last_used_at: 'shown only' },
  },
  memberships: {
    key: ['account_id', 'person_id'],
    open: { last_seen_at: 'shown only' },
  },
  sessions: {
    key: ['person_id', 'id'],
    open: { last_seen_at: 'moved with each request; a later one keeps an idle session until its sealed end' },
  },
  access_links: { key: ['account_id', 'id'] },
  recovery_links: { key: ['token_hash'] },
  webhook_endpoints: {
    key: ['account_id', 'environment', 'id'],
    open: {
      status: 'says only whether a sealed endpoint gets events',
      disabled_reason: 'shown only',
      failing_since: 'says only when Florin disables the endpoint',
      failed_at: 'says only when the endpoint is tried again',
      tested_at: 'shown only',
    },
  },
  wallets: { key: ['account_id', 'environment', 'network', 'version'] },
  wallet_stops: { key: ['account_id', 'environment', 'network', 'version'] },
  wallet_approvals: { key: ['account_id', 'environment', 'network', 'version', 'person_id'] },
  treasury_confirmations: { key: ['account_id', 'environment', 'network', 'treasury', 'code_hash'] },
  restore_reviews: { key: ['account_id', 'requested_at'] },
  ledger_corrections: { key: ['difference_id'] },
  derivation_epochs: { key: ['number'] },
  chain_branches: { key: ['caip2', 'number'] },
  chains: {
    key: ['caip2'],
    open: {
      lease_holder: 'says only which process reads the chain',
      lease_until: 'says only which process reads the chain',
      fence: 'goes up only; a trigger refuses less',
    },
  },
} as const satisfies Readonly<Record<string, SealedTable>>;

export type SealedTableName = keyof typeof sealedTables;
export const sealedTableNames = Object.keys(sealedTables) as SealedTableName[];

/** Makes and checks the seals of rows, with a key that is not in the database. */
export type SealKeeper = {
  seal(table: SealedTableName, text: string): Buffer;
  isSealed(table: SealedTableName, text: string, seal: Buffer): boolean;
  /** Called for a row that does not match its seal, or for an earlier one. */
  noticeForged(table: SealedTableName, text: string, isEarlier?: boolean): void;
  /** Whether the end of an audit log is as Florin wrote it, and the tables are as it says. */
  isVouchedFor(state: RegisterState): boolean;
  /** What is known of rows whose earlier versions have genuine seals. */
  readonly floors: Floors;
};

/** The end of an account's audit log with the register that it vouches for, as JSON. */
export type RegisterState = {
  readonly accountId: string;
  readonly sequence: string;
  /** Hexadecimal, as all but the numbers. */
  readonly hash: string;
  readonly seal: string | null;
  /** Of the register as the tables are now. */
  readonly digest: string;
  /** The last row of the log; null if there is none. */
  readonly newest: { readonly sequence: string; readonly hash: string } | null;
};

/** The state of a register, after the database layer has checked it. */
export type Vouched = RegisterState & { readonly isTrue: boolean };

/** A row that Florin did not write: somebody changed the database. */
export class ForgedRow extends FlorinError {
  constructor(table: SealedTableName) {
    super('service_unavailable', 'A record of this installation was changed in the database. Ask its operator.');
    this.cause = `a row of ${table} does not match its seal`;
  }
}

const openColumnsOf = (table: SealedTableName): string[] => [
  'row_seal',
  ...Object.keys((sealedTables[table] as SealedTable).open ?? {}),
];

/**
 * What the seal of a row covers, as text. The functions here are named with their schema: the owner of the tables could add
 * one that fits the arguments better, and answer with another row and its seal.
 */
export const sealedText = (table: SealedTableName, alias: string): string =>
  `pg_catalog.jsonb_strip_nulls(pg_catalog.to_jsonb(${alias}) - '{${openColumnsOf(table).join(',')}}'::text[])::text`;

/** What a row says with its seal, as JSON: for rows that are read inside of others and checked by who uses them. */
export const sealedJson = (table: SealedTableName, alias: string): string =>
  `pg_catalog.json_build_array('${table}', ${sealedText(table, alias)}, pg_catalog.encode(${alias}.row_seal, 'hex'))`;

const allSealed = (tables: Readonly<Record<string, SealedTableName>>): string =>
  `pg_catalog.json_build_array(${Object.entries(tables)
    .map(([alias, table]) => sealedJson(table, alias))
    .join(', ')})`;

/** A row that was read with `sealedJson`. */
export type SealedTriple = readonly [table: SealedTableName, text: string, seal: string | null];

/** Whether Florin wrote a row that was read with `sealedJson`. */
export const isTripleSealed = (sealer: RowSealer, [table, text, seal]: SealedTriple): boolean =>
  isSealedAs(sealer, table, [text], seal);

/** For a `select`: the seals of rows that it uses, by alias. The database layer checks them and leaves out forged rows. */
export const sealsOf = (tables: Readonly<Record<string, SealedTableName>>): string => `${allSealed(tables)} as seals`;

/** The same, but a forged row throws: to go on as if it were not there would be wrong. */
export const requiredSealsOf = (tables: Readonly<Record<string, SealedTableName>>): string =>
  `${allSealed(tables)} as required`;

/**
 * For a `returning` or the `select` after it: the database layer seals the row, in the same transaction. `changed`: the
 * columns that an update sets.
 */
export const toSeal = (table: SealedTableName, alias: string, changed: readonly string[] = []): string =>
  `pg_catalog.json_build_array('${table}', ${sealedText(table, alias)}, '${JSON.stringify(changed)}'::json) as unsealed`;

/**
 * An update of sealed rows. They are locked and checked first: without that, sealing the new row would make a forged one
 * right. `set` has an expression for each column. It, `where` and `returning` name the row as `t`; `where` may not name
 * another table.
 */
export const sealedUpdate = (
  table: SealedTableName,
  {
    set,
    where,
    returning = '1 as changed',
  }: { set: Readonly<Record<string, string>>; where: string; returning?: string },
): string => {
  const { key, revision } = sealedTables[table] as SealedTable;
  const columns = { ...set, ...(revision === undefined ? {} : { [revision]: `coalesce(t.${revision}, 0) + 1` }) };
  const settings = Object.entries(columns).map(([name, value]) => `${name} = ${value}`);
  return `with old as materialized (
      select ${key.map(name => `t.${name}`).join(', ')}, ${sealsOf({ t: table })} from ${table} t where ${where} for no key update
    )
    update ${table} t set ${settings.join(', ')} from old
    where ${key.map(name => `t.${name} = old.${name}`).join(' and ')}
    returning ${returning}, old.seals, ${toSeal(table, 't', Object.keys(columns))}`;
};

/** Throws unless a row says what it said before, but for the columns that an update sets: nothing else may be sealed. */
export const assertOnlyChanged = (
  keeper: Pick<SealKeeper, 'noticeForged'>,
  table: SealedTableName,
  { before, after, changed }: { readonly before: string; readonly after: string; readonly changed: readonly string[] },
): void => {
  const [was, is] = [before, after].map(text => JSON.parse(text) as Record<string, unknown>) as [Row, Row];
  const others = Object.keys({ ...was, ...is }).filter(name => !changed.includes(name));
  if (others.every(name => JSON.stringify(was[name]) === JSON.stringify(is[name]))) return;
  keeper.noticeForged(table, after);
  throw new ForgedRow(table);
};

const sealStatement = (table: SealedTableName) => {
  const key = sealedTables[table].key.join(', ');
  return {
    name: `seal-${table}`,
    text: `update ${table} t set row_seal = $1
      from jsonb_populate_record(null::${table}, $2::text::jsonb) as o
      where ${sealedTables[table].key.map(name => `t.${name} = o.${name}`).join(' and ')}
        and ${sealedText(table, 't')} = $2::text
      returning ${key
        .split(', ')
        .map(name => `t.${name}`)
        .join(', ')}`,
  };
};
const sealStatements = new Map(sealedTableNames.map(table => [table, sealStatement(table)]));

/** Seals a row that says `text`. */
export const writeSeal = async (
  tx: Queryable,
  keeper: SealKeeper,
  table: SealedTableName,
  text: string,
): Promise<void> => {
  const rows = await tx.query(sealStatements.get(table)!, [keeper.seal(table, text), text]);
  if (rows.length !== 1) throw new Error(`a row of ${table} changed while it was being sealed`);
};

const unsealedStatement = (table: SealedTableName) => ({
  name: `unsealed-${table}`,
  text: `select ${sealedText(table, 't')} as text, pg_catalog.encode(t.row_seal, 'hex') as seal from ${table} t
    where ($1::text is null or (${sealedTables[table].key.map(name => `t.${name}`).join(', ')}) > (
      select ${sealedTables[table].key.map(name => `o.${name}`).join(', ')}
      from jsonb_populate_record(null::${table}, $1::text::jsonb) as o))
      and ($3 or t.row_seal is null)
    order by ${sealedTables[table].key.map(name => `t.${name}`).join(', ')} limit $2`,
});
const pageStatements = new Map(sealedTableNames.map(table => [table, unsealedStatement(table)]));

/** What a row says, with its seal: what upgrades seal and `florin doctor` checks. */
export type SealedRow = { readonly text: string; readonly seal: string | null };

/** Rows of a table by its key, after the row with the text `after`: all, or only those without a seal. */
export const readSealedRows = (
  db: Queryable,
  table: SealedTableName,
  page: { after: string | null; limit: number; all: boolean },
): Promise<SealedRow[]> => db.query<Row & SealedRow>(pageStatements.get(table)!, [page.after, page.limit, page.all]);
