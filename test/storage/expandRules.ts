import type { Database } from '../../src/storage/database.ts';
import { deletable } from '../../src/storage/grants.ts';
import { sealedTableNames } from '../../src/storage/seals.ts';

/** Something that the catalogue says. `table` is null for functions and types. */
type Fact = {
  readonly kind: 'column' | 'constraint' | 'index' | 'trigger' | 'function' | 'enum' | 'domain';
  readonly table: string | null;
  readonly name: string;
  readonly definition: string;
  /** Those that a constraint or an index is about. */
  readonly columns: readonly string[];
  /** The table that a foreign key names. */
  readonly target: string | null;
};
export type Schema = { readonly tables: ReadonlySet<string>; readonly facts: ReadonlyMap<string, Fact> };

const names = (relation: string, keys: string): string =>
  `(select coalesce(array_agg(attname::text), '{}') from pg_attribute where attrelid = ${relation} and attnum = any(${keys}))`;
const ours = `'public'::regnamespace`;
const statement = {
  name: 'test-facts',
  text: `
    select 'column' as kind, r.relname::text as table, a.attname::text as name,
        concat_ws(' ', format_type(a.atttypid, a.atttypmod), nullif(a.attcollation, 0)::regcollation,
          case when a.attnotnull then 'not null' end, nullif(a.attidentity, ''), 'default ' || pg_get_expr(d.adbin, d.adrelid)) as definition,
        array[a.attname::text] as columns, null as target
      from pg_class r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
        left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
      where r.relnamespace = ${ours} and r.relkind in ('r', 'p')
    union all select 'constraint', r.relname, c.conname, pg_get_constraintdef(c.oid), ${names('r.oid', 'c.conkey')}, f.relname
      from pg_constraint c join pg_class r on r.oid = c.conrelid left join pg_class f on f.oid = c.confrelid
      where r.relnamespace = ${ours} and c.contype <> 'n'
    union all select 'index', r.relname, x.relname, pg_get_indexdef(i.indexrelid), ${names('r.oid', 'i.indkey')}, null
      from pg_index i join pg_class r on r.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
      where r.relnamespace = ${ours}
    union all select 'trigger', r.relname, g.tgname, pg_get_triggerdef(g.oid, true), '{}', null
      from pg_trigger g join pg_class r on r.oid = g.tgrelid where r.relnamespace = ${ours} and not g.tgisinternal
    union all select 'function', null, p.oid::regprocedure::text, pg_get_functiondef(p.oid), '{}', null
      from pg_proc p where p.pronamespace = ${ours}
    union all select 'enum', null, t.typname, string_agg(e.enumlabel, ', ' order by e.enumsortorder), '{}', null
      from pg_type t join pg_enum e on e.enumtypid = t.oid where t.typnamespace = ${ours} group by t.typname
    union all select 'domain', null, t.typname, concat_ws(' ', format_type(t.typbasetype, t.typtypmod),
        (select string_agg(pg_get_constraintdef(c.oid), ' ' order by c.conname) from pg_constraint c where c.contypid = t.oid)), '{}', null
      from pg_type t where t.typnamespace = ${ours} and t.typtype = 'd'`,
};

export const readSchema = async (db: Database): Promise<Schema> => {
  const facts = await db.query<Fact>(statement);
  return {
    tables: new Set(facts.flatMap(({ table }) => table ?? [])),
    facts: new Map(facts.map(fact => [`${fact.kind} ${fact.table ?? ''} ${fact.name}`, fact])),
  };
};

/** What is wrong with something new on a table that the release before writes to. */
const onOldTable = (fact: Fact, before: Schema, newColumns: readonly string[]): string | null => {
  const { kind, table, definition, columns } = fact;
  const isSealed = (sealedTableNames as readonly string[]).includes(table!);
  const hasDefault = / default /.test(definition);
  switch (kind) {
    case 'column':
      if (isSealed && hasDefault) return 'has a default, and the seals of old rows do not cover it';
      return / not null/.test(definition) && !hasDefault
        ? 'is not null without a default: the release before leaves it out'
        : null;
    case 'constraint':
      // The release before leaves a new column null, and then a key does not look at the others.
      if (/^(?:FOREIGN KEY|UNIQUE)/.test(definition))
        return columns.some(name => newColumns.includes(name)) ? null : 'binds columns that the release before writes';
      return columns.every(name => newColumns.includes(name)) ? null : 'binds columns that the release before writes';
    case 'index':
      if (!definition.startsWith('CREATE UNIQUE')) return null;
      return columns.some(name => newColumns.includes(name)) ? null : 'binds columns that the release before writes';
    case 'trigger': {
      const [, condition = ''] = /WHEN \((.*)\) EXECUTE/.exec(definition) ?? [];
      return newColumns.some(name => new RegExp(`\\b${name}\\b`).test(condition))
        ? null
        : 'fires for what the release before writes';
    }
    default:
      return before.tables.has(table!) ? null : 'is unknown';
  }
};

/** What the release before cannot live with in a schema that was expanded. */
export const expandFaults = (before: Schema, after: Schema): string[] => {
  const faults: string[] = [];
  for (const [key, { definition, kind }] of before.facts) {
    const now = after.facts.get(key)?.definition;
    const isLonger = kind === 'enum' && now?.startsWith(`${definition}, `);
    if (now === undefined) faults.push(`${key} is gone`);
    else if (now !== definition && !isLonger) faults.push(`${key} changed`);
  }
  const added = [...after.facts].filter(([key]) => !before.facts.has(key));
  const newColumnsOf = (table: string): string[] =>
    added.flatMap(([, fact]) => (fact.kind === 'column' && fact.table === table ? [fact.name] : []));
  for (const [key, fact] of added) {
    const { table, target, definition } = fact;
    const fault = table !== null && before.tables.has(table) ? onOldTable(fact, before, newColumnsOf(table)) : null;
    if (fault !== null) faults.push(`${key} ${fault}`);
    if (target !== null && deletable.includes(target) && !/ON DELETE (?:CASCADE|SET NULL)/.test(definition)) {
      faults.push(`${key} keeps the release before from deleting rows of ${target}`);
    }
  }
  return faults.sort();
};

/** Tables in which an index takes long to build, and rows long to change. */
const largeTables = [
  'payments',
  'events',
  'deliveries',
  'delivery_attempts',
  'transfers',
  'forwards',
  'blocks',
  'idempotency_keys',
  'audit_log',
];

/** What the text of an expansion must not say although the schema does not show it. */
export const textFaults = (sql: string, tables: ReadonlySet<string>): string[] =>
  sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, `''`)
    .split(';')
    .map(text => text.trim().replaceAll(/\s+/g, ' ').toLowerCase())
    .flatMap(text => {
      const [, verb, changed] = /^(update|delete from|truncate(?: table)?|lock(?: table)?) (\w+)/.exec(text) ?? [];
      const [, table] = /^create (?:unique )?index(?! concurrently) .*?\bon (\w+)/.exec(text) ?? [];
      return [
        ...(changed && tables.has(changed) ? [`${verb} ${changed}: the release before has these rows in use`] : []),
        ...(table && largeTables.includes(table)
          ? [`${text.slice(0, 60)}: without concurrently, it locks out writers`]
          : []),
      ];
    });
