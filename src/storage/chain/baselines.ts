import type { Environment } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';
import type { RowSealer } from '../largeSeals.ts';
import { sealBaseline } from './baselineSeals.ts';

const keysStatement = {
  name: 'baselines-keys',
  text: `select distinct w.destination from wallets w
      join unnest($1::environment[], $2::text[]) as n(environment, network)
        on n.environment = w.environment and n.network = w.network
      left join wallet_stops x on x.account_id = w.account_id and x.environment = w.environment
        and x.network = w.network and x.version = w.version and x.stopped_at <= w.takes_effect_at
    where w.kind = 'xpub' and x.version is null and not exists (
      select from wallets l
        left join wallet_stops y on y.account_id = l.account_id and y.environment = l.environment
          and y.network = l.network and y.version = l.version and y.stopped_at <= l.takes_effect_at
      where l.account_id = w.account_id and l.environment = w.environment and l.network = w.network
        and l.version > w.version and (l.takes_effect_at is null or l.takes_effect_at <= statement_timestamp())
        and y.version is null
    ) order by 1`,
};
/**
 * The extended public keys that payments on these networks can get addresses of, now or once a change of a wallet takes
 * effect: those of wallets that are neither stopped nor replaced.
 */
export const receivingKeys = async (
  db: Queryable,
  networks: readonly { readonly environment: Environment; readonly slug: string }[],
): Promise<readonly string[]> => {
  const values = [networks.map(n => n.environment), networks.map(n => n.slug)];
  return (await db.query<Row & { destination: string }>(keysStatement, values)).map(row => row.destination);
};

const nextStatement = {
  name: 'baselines-next-indexes',
  text: `select series, next::float8 as next from derivation_counters where series = any($1::text[])`,
};
/** The next unused index of each series; absent if none was used. */
export const nextIndexes = async (db: Queryable, series: readonly string[]): Promise<ReadonlyMap<string, number>> => {
  const rows = await db.query<Row & { series: string; next: number }>(nextStatement, [series]);
  return new Map(rows.map(row => [row.series, row.next]));
};

export type Baselines = {
  readonly balances: readonly { readonly address: string; readonly amount: bigint }[];
  readonly blockNumber: number;
  /** Not later than the block was read. */
  readonly readAt: Date;
};
const valuesOf = (sealer: RowSealer, caip2: string, { balances, blockNumber, readAt }: Baselines): unknown[] => [
  caip2,
  balances.map(({ address }) => address),
  balances.map(({ amount }) => amount.toString()),
  blockNumber,
  readAt,
  balances.map(({ address, amount }) =>
    sealBaseline(sealer, { caip2, address, amount: amount.toString(), blockNumber, readAtMs: readAt.getTime() }),
  ),
];

const insertStatement = {
  name: 'baselines-insert',
  text: `insert into address_baselines (caip2, address, amount, block_number, read_at, row_seal)
    select $1, b.address, b.amount, $4, $5, b.seal
    from unnest($2::text[], $3::numeric[], $6::bytea[]) as b(address, amount, seal)
    on conflict (caip2, address) do nothing`,
};
/** Writes the first baselines of addresses. Those that have one keep it. */
export const insertBaselines = async (
  db: Queryable,
  sealer: RowSealer,
  caip2: string,
  baselines: Baselines,
): Promise<void> => {
  if (baselines.balances.length > 0) await db.query(insertStatement, valuesOf(sealer, caip2, baselines));
};

const refreshStatement = {
  name: 'baselines-refresh',
  text: `insert into address_baselines as old (caip2, address, amount, block_number, read_at, row_seal)
    select $1, b.address, b.amount, $4, $5, b.seal
    from unnest($2::text[], $3::numeric[], $6::bytea[]) as b(address, amount, seal)
    where not exists (select from payments p where p.address = b.address)
    on conflict (caip2, address) do update
      set amount = excluded.amount, block_number = excluded.block_number, read_at = excluded.read_at,
        row_seal = excluded.row_seal`,
};
/**
 * Writes the baselines of addresses that no payment has. Nothing of an earlier one is kept. If a payment is being created meanwhile, its baseline is later
 * than it and gives no credit.
 */
export const refreshBaselines = async (
  db: Queryable,
  sealer: RowSealer,
  caip2: string,
  baselines: Baselines,
): Promise<void> => {
  if (baselines.balances.length > 0) await db.query(refreshStatement, valuesOf(sealer, caip2, baselines));
};
