import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { silentLog } from '../src/core/log.ts';
import { testTreasury } from '../src/engine/wallets/treasury.ts';
import { type Database, openDatabase } from '../src/storage/database.ts';
import { type PaymentIndex, paymentIndexes } from './paymentIndexes.ts';
import type { Scene } from './scene.ts';
import type { Chunk, SeedPlan } from './seedPlan.ts';

const chunkRows = 200_000;
const workers = 2;

const columns = `account_id, environment, id, status, exception, amount, amount_received, amount_confirmed, decimals, currency, network,
  caip2, contract, address, wallet_kind, treasury, derivation_index, mac, tiers, tolerance_bps, late_policy, late_window_seconds,
  metadata, created_at, expires_at, completed_at, canceled_at, sequence, wake_at, row_seal`;

/** The totals that folding would give, from one pass over the rows. */
const totals = (accountId: string): string => `
  insert into payment_totals (account_id, environment, status, currency, network, exception, day, count, hours)
  with hourly as (
    select status::text, currency, network, (created_at at time zone 'UTC')::date as day,
      extract(hour from created_at at time zone 'UTC')::int as hour, count(*)::int as count
    from payments where account_id = '${accountId}' group by 1, 2, 3, 4, 5
  ), spread as (
    select s.v as status, c.v as currency, n.v as network, day, hour, sum(count)::int as count from hourly
      cross join lateral (values (status), ('')) s(v) cross join lateral (values (currency), ('')) c(v)
      cross join lateral (values (network), ('')) n(v)
    group by 1, 2, 3, 4, 5
  )
  select '${accountId}', 'sandbox', status, currency, network, '', day, sum(count),
    array(select coalesce(sum(g.count) filter (where true), 0)::int from generate_series(0, 23) h
      left join unnest(array_agg(hour), array_agg(count)) as g(hour, count) on g.hour = h group by h order by h)
  from spread group by status, currency, network, day`;

/** The volumes and holdings that folding would give. */
const sums = (accountId: string): string => `
  insert into volume_totals (account_id, environment, currency, network, decimals, day, count, amount)
  select account_id, environment, currency, network, decimals, (completed_at at time zone 'UTC')::date, count(*), sum(amount_confirmed)
  from payments where account_id = '${accountId}' and status = 'completed' group by 1, 2, 3, 4, 5, 6;
  insert into holding_totals (account_id, environment, network, caip2, currency, contract, decimals, treasury, count, amount)
  select account_id, environment, network, caip2, currency, coalesce(contract, ''), decimals, treasury, count(*), sum(amount_confirmed)
  from payments where account_id = '${accountId}' and amount_confirmed > 0 group by 1, 2, 3, 4, 5, 6, 7, 8`;

const generate = async (plan: SeedPlan, chunks: Chunk[], copy: (file: string) => Promise<void>): Promise<void> => {
  const queue = [...chunks];
  let copying: Promise<void> = Promise.resolve();
  const pool = Array.from(
    { length: workers },
    () => new Worker(new URL('./seedWorker.ts', import.meta.url), { workerData: plan }),
  );
  await Promise.all(
    pool.map(async worker => {
      for (let chunk = queue.shift(); chunk; chunk = queue.shift()) {
        worker.postMessage(chunk);
        await once(worker, 'message');
        const { file } = chunk;
        copying = copying.then(() => copy(file));
        await copying;
      }
      await worker.terminate();
    }),
  );
  await copying;
};

/** Indexes that the running Florin needs to look for payments to wake. */
const inUse = /^payments_(?:wake|wake_number|untold|open_coins)$/;

/** Drops the indexes while rows are written: building them afterwards takes a tenth of the time. */
const withoutIndexes = async (db: Database, work: () => Promise<void>): Promise<void> => {
  const all = await db.query<PaymentIndex>({ name: 'bench-indexes', text: paymentIndexes });
  const rows = all.filter(({ name }) => !inUse.test(name));
  for (const { removal } of rows) await db.script(removal);
  await work();
  for (const { name, definition } of rows) {
    console.log(`  building ${name}…`);
    await db.script(definition);
  }
};

/** Writes `payments` payments for the account and prints progress. */
export const seed = async (scene: Scene, accountId: string, payments: number): Promise<void> => {
  const db = openDatabase({ ...scene.superuser, database: 'florin' }, { log: silentLog, maxConnections: 1 });
  const plan: SeedPlan = {
    dataDir: scene.dataDir,
    accountId,
    treasury: testTreasury(accountId),
    payments,
    firstIndex: 1_000_000,
    endMs: Date.now() - 60_000,
  };
  const chunks = Array.from({ length: Math.ceil(payments / chunkRows) }, (_, i) => ({
    file: join(tmpdir(), `florin-seed-${process.pid}-${i}.tsv`),
    first: i * chunkRows,
    count: Math.min(chunkRows, payments - i * chunkRows),
  }));
  let done = 0;
  const copy = async (file: string): Promise<void> => {
    await db.script(`copy payments (${columns}) from '${file}'`);
    await rm(file);
    done++;
    if (done % 5 === 0 || done === chunks.length) console.log(`  ${done} of ${chunks.length} parts written`);
  };
  const load = () => generate(plan, chunks, copy);
  await db.script(`set session_replication_role = replica; set maintenance_work_mem = '1GB'`);
  if (payments > chunkRows) await withoutIndexes(db, load);
  else await load();
  await db.script(totals(accountId));
  await db.script(sums(accountId));
  await db.script('vacuum analyze payments; ');
  await db.script('vacuum analyze payment_totals');
  await db.close();
};
