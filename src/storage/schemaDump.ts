import type { Queryable, Row } from './database.ts';

type Line = Row & { line: string };

/**
 * The live schema as text, one fact per line in a fixed order, so that a schema change shows in a file that people
 * review. It is read from the catalogue: what the server has, not what a migration meant to do. From version 18 on,
 * pg_constraint has NOT NULL constraints (contype n) too; here they are shown with their columns.
 */
const sections = [
  {
    title: 'enums',
    name: 'dump-enums',
    text: `select format('%s: %s', t.typname, string_agg(e.enumlabel, ', ' order by e.enumsortorder)) as line
      from pg_type t join pg_enum e on e.enumtypid = t.oid
      where t.typnamespace = 'public'::regnamespace group by t.typname order by t.typname collate "C"`,
  },
  {
    title: 'domains',
    name: 'dump-domains',
    text: `select format('%s: %s%s', t.typname, format_type(t.typbasetype, t.typtypmod),
        coalesce((select string_agg(' ' || pg_get_constraintdef(c.oid), '' order by c.conname collate "C")
          from pg_constraint c where c.contypid = t.oid and c.contype <> 'n'), '')) as line
      from pg_type t where t.typnamespace = 'public'::regnamespace and t.typtype = 'd' order by t.typname collate "C"`,
  },
  {
    title: 'functions',
    name: 'dump-functions',
    text: `select pg_get_functiondef(p.oid) as line
      from pg_proc p where p.pronamespace = 'public'::regnamespace order by p.oid::regprocedure::text collate "C"`,
  },
  {
    title: 'columns',
    name: 'dump-columns',
    text: `select format('%s.%s: %s%s%s%s', r.relname, a.attname, format_type(a.atttypid, a.atttypmod),
        case when a.attcollation <> t.typcollation
          then (select ' collate ' || quote_ident(l.collname) from pg_collation l where l.oid = a.attcollation) end,
        case when a.attnotnull then ' not null' end,
        case when a.attidentity <> '' then ' generated as identity'
          else ' default ' || pg_get_expr(d.adbin, d.adrelid) end) as line
      from pg_class r
        join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
        join pg_type t on t.oid = a.atttypid
        left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
      where r.relnamespace = 'public'::regnamespace and r.relkind in ('r', 'p') order by r.relname collate "C", a.attnum`,
  },
  {
    title: 'options of tables',
    name: 'dump-options',
    text: `select format('%s: %s', relname, array_to_string(reloptions, ', ')) as line
      from pg_class where relnamespace = 'public'::regnamespace and reloptions is not null order by relname collate "C"`,
  },
  {
    title: 'constraints',
    name: 'dump-constraints',
    text: `select format('%s %s: %s', r.relname, c.conname, pg_get_constraintdef(c.oid)) as line
      from pg_constraint c join pg_class r on r.oid = c.conrelid
      where r.relnamespace = 'public'::regnamespace and c.contype <> 'n'
      order by r.relname collate "C", c.contype, c.conname collate "C"`,
  },
  {
    title: 'indexes',
    name: 'dump-indexes',
    text: `select pg_get_indexdef(i.indexrelid) as line
      from pg_index i join pg_class r on r.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
      where r.relnamespace = 'public'::regnamespace order by r.relname collate "C", x.relname collate "C"`,
  },
  {
    title: 'triggers',
    name: 'dump-triggers',
    text: `select pg_get_triggerdef(g.oid, true) as line
      from pg_trigger g join pg_class r on r.oid = g.tgrelid
      where r.relnamespace = 'public'::regnamespace and not g.tgisinternal
      order by r.relname collate "C", g.tgname collate "C"`,
  },
] as const;

export const dumpSchema = async (db: Queryable): Promise<string> => {
  const parts: string[] = [];
  for (const { title, ...statement } of sections) {
    const rows = await db.query<Line>(statement);
    parts.push([`# ${title}`, ...rows.map(row => row.line.trimEnd()), ''].join('\n'));
  }
  return parts.join('\n');
};
