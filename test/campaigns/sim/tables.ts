import type pg from 'pg';

export type ChainRow = {
  readonly startNumber: number;
  readonly latestNumber: number;
  readonly latestHash: string;
  readonly caughtUpMs: number | null;
  readonly coinsCaughtUpMs: number | null;
  readonly haltedAt: Date | null;
};
export type BlockRow = {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestampS: number;
  readonly canonical: boolean;
};
export type TransferRow = {
  readonly key: string;
  readonly paymentId: string;
  readonly stray: boolean;
  readonly contract: string | null;
  readonly txHash: string | null;
  readonly sender: string | null;
  readonly amount: string;
  readonly blockHash: string;
  readonly blockNumber: number;
  readonly canonical: boolean;
  readonly verified: boolean;
  readonly told: boolean;
  readonly firstSeenMs: number;
};
export type PaymentRow = {
  readonly id: string;
  readonly accountId: string;
  readonly status: string;
  readonly exception: string | null;
  readonly amount: string;
  readonly received: string;
  readonly confirmed: string;
  readonly decimals: number;
  readonly contract: string | null;
  readonly address: string;
  readonly tiers: readonly { readonly kind: string; readonly depth: number | null }[];
  readonly toleranceBps: number;
  readonly dustFloor: string;
  readonly latePolicy: string;
  readonly lateWindowMs: number;
  readonly expiresMs: number;
  readonly completedMs: number | null;
  readonly sequence: number;
};
export type EventRow = {
  readonly id: string;
  readonly paymentId: string;
  readonly sequence: number;
  readonly type: string;
  readonly status: string;
  readonly exception: string | null;
  readonly previousStatus: string | null;
  readonly previousException: string | null;
  readonly createdMs: number;
  readonly digest: string;
};

export type LedgerRow = {
  readonly accountId: string;
  readonly contract: string | null;
  readonly source: string;
  readonly destination: string;
  readonly amount: string;
};

/** All that the database says of one chain, at one moment. */
export type Tables = {
  readonly nowMs: number;
  readonly chain: ChainRow;
  readonly blocks: readonly BlockRow[];
  readonly transfers: readonly TransferRow[];
  readonly payments: readonly PaymentRow[];
  readonly events: readonly EventRow[];
  readonly ledger: readonly LedgerRow[];
  bodies(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
};

const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

const chainText = `select start_number::float8 as "startNumber", latest_number::float8 as "latestNumber",
  latest_hash as "latestHash", ${ms('caught_up_at')} as "caughtUpMs", ${ms('coins_caught_up_at')} as "coinsCaughtUpMs",
  halted_at as "haltedAt" from chains where caip2 = $1`;
const blocksText = `select number::float8 as number, hash, parent_hash as "parentHash",
  extract(epoch from timestamp)::float8 as "timestampS", canonical from blocks where caip2 = $1 order by number`;
const transfersText = `select key, payment_id as "paymentId", stray, lower(contract) as contract, tx_hash as "txHash",
  lower(sender) as sender, amount::text as amount, block_hash as "blockHash", block_number::float8 as "blockNumber",
  canonical and not superseded as canonical, verified, told, ${ms('first_seen_at')} as "firstSeenMs" from transfers where caip2 = $1`;
const paymentsText = `select id, account_id as "accountId", status::text as status, exception::text as exception, amount::text as amount,
  amount_received::text as received, amount_confirmed::text as confirmed, decimals, lower(contract) as contract,
  lower(address) as address, tiers, tolerance_bps as "toleranceBps", dust_floor::text as "dustFloor", late_policy as "latePolicy",
  late_window_seconds::float8 * 1000 as "lateWindowMs", ${ms('expires_at')} as "expiresMs",
  ${ms('completed_at')} as "completedMs", sequence from payments where caip2 = $1`;
const eventsText = `select e.id, e.payment_id as "paymentId", e.sequence, e.type, e.status::text as status,
  e.exception::text as exception, e.previous_status::text as "previousStatus",
  e.previous_exception::text as "previousException", ${ms('e.created_at')} as "createdMs",
  encode(sha256(convert_to(e.body, 'UTF8')), 'hex') as digest
  from events e join payments p on p.id = e.payment_id where p.caip2 = $1 order by e.payment_id, e.sequence, e.id`;

const ledgerText = `select account_id as "accountId", nullif(lower(contract), '') as contract, source, destination,
  sum(amount)::text as amount from (select account_id, caip2, contract, source, destination, amount from ledger_totals
    union all select account_id, caip2, contract, source, destination, amount from ledger_deltas) l
  where caip2 = $1 group by 1, 2, 3, 4 having sum(amount) <> 0`;

/** Reads with the caller's transaction, which has to be repeatable. */
export const readTables = async (client: pg.ClientBase, caip2: string): Promise<Tables> => {
  const ask = async <T>(text: string): Promise<T[]> => (await client.query(text, [caip2])).rows as T[];
  const [chain] = await ask<ChainRow>(chainText);
  if (chain === undefined) throw new Error(`the database knows nothing of ${caip2}`);
  const now = await client.query(`select ${ms('clock_timestamp()')} as now`);
  return {
    nowMs: now.rows[0].now,
    chain,
    blocks: await ask<BlockRow>(blocksText),
    transfers: await ask<TransferRow>(transfersText),
    payments: await ask<PaymentRow>(paymentsText),
    events: await ask<EventRow>(eventsText),
    ledger: await ask<LedgerRow>(ledgerText),
    async bodies(ids) {
      const { rows } = await client.query('select id, body from events where id = any($1::text[])', [ids]);
      return new Map(rows.map(row => [row.id as string, row.body as string]));
    },
  };
};
