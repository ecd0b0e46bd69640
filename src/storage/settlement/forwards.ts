import type { Forward } from '../../core/chain.ts';
import { isStoredVerified, storedAmount } from '../chain/transfers.ts';
import { columns } from '../columns.ts';
import type { Queryable } from '../database.ts';

export type PlacedForward = Forward & { readonly blockHash: string; readonly blockNumber: number };

/** The first parameter is the chain. */
const placed = columns<PlacedForward>(
  {
    key: ['text', f => f.key],
    address: ['text', f => f.from],
    contract: ['text', f => f.contract],
    amount: ['numeric', storedAmount],
    block_hash: ['text', f => f.blockHash],
    block_number: ['bigint', f => f.blockNumber],
    verified: ['boolean', isStoredVerified],
    tx_hash: ['text', f => f.txHash],
  },
  { first: 2 },
);

// `offset 0` as with transfers: payments are looked up one by one.
const insertForwardsStatement = {
  name: 'forwards-insert',
  text: `insert into forwards (caip2, key, account_id, environment, payment_id, contract, amount, block_hash, block_number,
      canonical, verified, tx_hash, recorded_at)
    select $1, i.key, p.account_id, p.environment, p.id, i.contract, i.amount, i.block_hash, i.block_number, true,
      i.verified, i.tx_hash, clock_timestamp()
    from ${placed.rows('i')}
      cross join lateral (select * from payments where address = i.address offset 0) p
    on conflict (caip2, key) do nothing`,
};
/** Writes forwards from payment addresses, each once. Their blocks must be there already. */
export const insertForwards = async (
  tx: Queryable,
  caip2: string,
  forwards: readonly PlacedForward[],
): Promise<void> => {
  if (forwards.length === 0) return;
  await tx.query(insertForwardsStatement, [caip2, ...placed.values(forwards)]);
};

const verifyForwardsStatement = {
  name: 'forwards-verify',
  text: `update forwards set verified = true where caip2 = $1 and key = any($2::text[]) and not verified`,
};
export const verifyForwards = async (tx: Queryable, caip2: string, keys: readonly string[]): Promise<void> => {
  await tx.query(verifyForwardsStatement, [caip2, keys]);
};
