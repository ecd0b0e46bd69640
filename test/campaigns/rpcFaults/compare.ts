import pg from 'pg';
import { findPostgres } from '../../../src/local/postgres/startPostgres.ts';
import { type Told, walkChain } from '../../chains/followScene.ts';
import type { Check } from '../chaos/verify.ts';
import type { Order } from './merchant.ts';
import type { World } from './world.ts';

type Row = Readonly<Record<string, unknown>>;
type Ask = (sql: string, values?: unknown[]) => Promise<Row[]>;

const withTables = async <T>(dataDir: string, work: (ask: Ask) => Promise<T>): Promise<T> => {
  const found = await findPostgres({ dataDir });
  if (!found) throw new Error('no database is running');
  const client = new pg.Client(found.owner);
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read, read only');
    return await work(async (sql, values = []) => (await client.query(sql, values)).rows);
  } finally {
    await client.end();
  }
};

const lineOf = ({ key, to, contract, amount }: Told): string => `${key} ${to} ${contract} ${amount}`;

/** What the chains hold for these payments, by a walk over every transaction. */
export const walkWorlds = async (worlds: readonly World[], orders: readonly Order[]): Promise<Map<World, Told[]>> => {
  const walked = new Map<World, Told[]>();
  for (const world of worlds) {
    const known = new Set(orders.map(({ address }) => address));
    walked.set(world, await walkChain(world.chain, known, { from: world.start, tokens: world.tokens }));
  }
  return walked;
};

const compareTransfers = async (ask: Ask, walked: ReadonlyMap<World, readonly Told[]>): Promise<Check[]> => {
  const checks: Check[] = [];
  for (const [{ slug, caip2 }, told] of walked) {
    const rows = await ask(
      `select t.key, p.address as "to", t.contract, t.amount::text as amount, t.verified, t.stray from transfers t
       join payments p on (p.account_id, p.environment, p.id) = (t.account_id, t.environment, t.payment_id)
       where t.caip2 = $1 and t.canonical and t.tx_hash is not null`,
      [caip2],
    );
    const kept = new Set(rows.map(row => lineOf(row as unknown as Told)));
    const real = new Set(told.map(lineOf));
    const problems = [
      ...told
        .map(lineOf)
        .filter(line => !kept.has(line))
        .map(line => `only on the chain: ${line}`),
      ...[...kept].filter(line => !real.has(line)).map(line => `only in the database: ${line}`),
      ...rows.filter(({ verified, stray }) => !verified || stray).map(row => `not verified or astray: ${row.key}`),
    ];
    checks.push({
      what: `${told.length} transfers on ${slug} are the same on the chain and in the database`,
      problems,
    });
  }
  return checks;
};

const compareBlocks = async (ask: Ask, worlds: readonly World[]): Promise<Check[]> => {
  const checks: Check[] = [];
  for (const { slug, caip2, chain } of worlds) {
    const rows = await ask('select number::int, hash from blocks where caip2 = $1 and canonical order by number', [
      caip2,
    ]);
    const [state] = await ask('select latest_number::int as latest, halt_reason from chains where caip2 = $1', [caip2]);
    const problems: string[] = [];
    for (const { number, hash } of rows as { number: number; hash: string }[]) {
      if ((await chain.blockAt(number))?.hash !== hash) problems.push(`another block ${number}`);
    }
    if (state?.halt_reason) problems.push(`halted: ${state.halt_reason}`);
    if (state?.latest !== (await chain.head())) problems.push(`read up to ${state?.latest} of ${await chain.head()}`);
    checks.push({ what: `${slug} is read to its head, and its ${rows.length} kept blocks are the node's`, problems });
  }
  return checks;
};

const comparePayments = async (
  ask: Ask,
  orders: readonly Order[],
  walked: ReadonlyMap<World, readonly Told[]>,
): Promise<Check[]> => {
  const rows = await ask(
    'select id, status, exception, amount_received::text as received, dust_floor::text as floor from payments',
  );
  const byId = new Map(rows.map(row => [row.id, row]));
  const problems: string[] = [];
  for (const { id, address, amount, contract, world } of orders) {
    const own = walked.get(world)!.filter(told => told.to === address && told.contract === contract);
    // Coin from contracts is in no transaction to the address. Nothing is swept here, so the balance has all of it.
    const sum =
      contract === null
        ? BigInt(await world.chain.node.request<string>('eth_getBalance', address, 'latest'))
        : own.reduce((total, told) => total + told.amount, 0n);
    const row = byId.get(id);
    const isDust = (part: bigint): boolean => part < BigInt(String(row?.floor ?? 0)) && part * 100n < amount;
    const isOver = sum > amount && !isDust(sum - amount);
    const isUnder = sum > 0n && sum < amount && !isDust(sum);
    const exception = isOver ? 'overpaid' : isUnder ? 'underpaid' : null;
    const wanted = `${sum >= amount ? 'completed' : 'pending'} ${exception} ${sum}`;
    const found = `${row?.status} ${row?.exception} ${row?.received}`;
    if (found !== wanted) problems.push(`${id} on ${world.slug}: ${found} instead of ${wanted}`);
  }
  const taken = await ask(`select payment_id from events where type in ('payment.reversed', 'payment.expired')`);
  return [
    { what: `status, exception and sum of all ${orders.length} payments are what the chains say`, problems },
    { what: 'no completion was ever taken back', problems: taken.map(row => `${row.payment_id}`) },
  ];
};

/** Everything that must be the same on the chains and in the database once all is read. */
export const compareAll = async (
  dataDir: string,
  worlds: readonly World[],
  orders: readonly Order[],
): Promise<Check[]> => {
  const walked = await walkWorlds(worlds, orders);
  return withTables(dataDir, async ask => [
    ...(await compareTransfers(ask, walked)),
    ...(await compareBlocks(ask, worlds)),
    ...(await comparePayments(ask, orders, walked)),
  ]);
};
