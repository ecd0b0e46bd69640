import type pg from 'pg';
import type { Scene } from './scene.ts';
import type { Column, RowText, Table } from './tables.ts';

/** What a row about the first merchant says in columns with these names, as JSON text. */
export const valuesOfFirst = async ({ client, accounts, unpaid }: Scene): Promise<ReadonlyMap<string, string>> => {
  const [id] = [...unpaid.keys()];
  const { rows } = await client.query('select to_jsonb(p) as payment from payments p where id = $1', [id]);
  const payment = rows[0].payment as Record<string, unknown>;
  const { rows: blocks } = await client.query(
    'select to_jsonb(b) as block from blocks b where caip2 = $1 and canonical order by number desc limit 1',
    [payment.caip2],
  );
  const block = (blocks[0]?.block ?? {}) as Record<string, unknown>;
  const { rows: people } = await client.query('select person_id from memberships where account_id = $1', [accounts[0]]);
  const known: Record<string, unknown> = {
    ...payment,
    payment_id: id,
    block_hash: block.hash,
    block_number: block.number,
    person_id: people[0]?.person_id,
    count: 1,
    change: 1,
    verified: true,
    canonical: true,
    key: `0x${'f'.repeat(64)}:log:1`,
    tx_hash: `0x${'f'.repeat(64)}`,
    code_hash: 'f'.repeat(64),
    source: 'received',
    destination: 'forwarders',
    hour: '2026-01-01T00:00:00Z',
    from_number: 1,
    to_number: 2,
  };
  return new Map(
    Object.entries(known)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, JSON.stringify(value)]),
  );
};

const valueFor = ({ type, words, nullable }: Column): string => {
  if (words.length > 0) return JSON.stringify(words[0]);
  if (nullable) return 'null';
  if (type.startsWith('timestamp')) return JSON.stringify(new Date().toISOString());
  if (type === 'date') return '"2026-01-01"';
  if (type === 'boolean') return 'true';
  if (/^(bigint|integer|smallint|numeric|base_units|double)/.test(type)) return '1';
  if (type === 'bytea') return `"\\\\x${'00'.repeat(32)}"`;
  if (type.endsWith('[]')) return '[]';
  return type === 'json' || type === 'jsonb' ? '{}' : '"forged"';
};

/** A row of a table that has none, about the first merchant. */
export const madeUp = async (
  client: pg.Client,
  { name, key, columns }: Table,
  ofFirst: ReadonlyMap<string, string>,
): Promise<RowText> => {
  // The identities of rows are their own.
  const own = key.length === 1 ? key[0] : undefined;
  const values = new Map(ofFirst);
  if (name === 'sweeps') values.set('id', JSON.stringify(`swp_${'0'.repeat(26)}`));
  const row = Object.fromEntries(
    columns.map(column => [column.name, (column.name === own ? null : values.get(column.name)) ?? valueFor(column)]),
  );
  const text = `{${Object.entries(row)
    .map(([column, value]) => `${JSON.stringify(column)}:${value}`)
    .join(',')}}`;
  const { rows } = await client.query(`select to_jsonb(jsonb_populate_record(null::${name}, $1::jsonb))::text as row`, [
    text,
  ]);
  return rows[0].row as string;
};
