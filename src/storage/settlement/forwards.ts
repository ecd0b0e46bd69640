import type { Forward } from '../../core/chain.ts';
import { isStoredVerified, storedAmount } from '../chain/transfers.ts';
import type { Queryable } from '../database.ts';

// `offset 0` as with transfers: payments are looked up one by one.
const insertForwardsStatement = {
  name: 'forwards-insert',
  text: `insert into forwards (caip2, key, account_id, environment, payment_id, contract, amount, block_hash, block_number,
      canonical, verified, tx_hash, recorded_at)
    select $1, i.key, p.account_id, p.environment, p.id, i.contract, i.amount, i.block_hash, i.block_number, true,
      i.verified, i.tx_hash, clock_timestamp()
    from unnest($2::text[], $3::text[], $4::text[], $5::numeric[], $6::text[], $7::bigint[], $8::boolean[], $9::text[])
        as i(key, address, contract, amount, block_hash, block_number, verified, tx_hash)
      cross join lateral (select * from payments where address = i.address offset 0) p
    on conflict (caip2, key) do nothing`,
};
export type PlacedForward = Forward & { readonly blockHash: string; readonly blockNumber: number };

/** Writes forwards from payment addresses, each once. Their blocks must be there already. */
export const insertForwards = async (
  tx: Queryable,
  caip2: string,
  forwards: readonly PlacedForward[],
): Promise<void> => {
  if (forwards.length === 0) return;
  await tx.query(insertForwardsStatement, [
    caip2,
    forwards.map(f => f.key),
    forwards.map(f => f.from),
    forwards.map(f => f.contract),
    forwards.map(storedAmount),
    forwards.map(f => f.blockHash),
    forwards.map(f => f.blockNumber),
    forwards.map(isStoredVerified),
    forwards.map(f => f.txHash),
  ]);
};

const verifyForwardsStatement = {
  name: 'forwards-verify',
  text: `update forwards set verified = true where caip2 = $1 and key = any($2::text[]) and not verified`,
};
export const verifyForwards = async (tx: Queryable, caip2: string, keys: readonly string[]): Promise<void> => {
  await tx.query(verifyForwardsStatement, [caip2, keys]);
};
