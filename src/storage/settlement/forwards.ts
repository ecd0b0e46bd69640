import type { Forward, WatchedBlock } from '../../core/chain.ts';
import { isStoredVerified, storedAmount } from '../chain/transfers.ts';
import { columns } from '../columns.ts';
import type { Queryable } from '../database.ts';

/** A block with what left payment addresses in it. */
export type PlacedForwards = Pick<WatchedBlock, 'hash' | 'number' | 'forwards'>;

/** The first parameter is the chain. */
const placed = columns<{ readonly forward: Forward; readonly block: PlacedForwards }>(
  {
    key: ['text', p => p.forward.key],
    address: ['text', p => p.forward.from],
    contract: ['text', p => p.forward.contract],
    amount: ['numeric', p => storedAmount(p.forward)],
    block_hash: ['text', p => p.block.hash],
    block_number: ['bigint', p => p.block.number],
    verified: ['boolean', p => isStoredVerified(p.forward)],
    tx_hash: ['text', p => p.forward.txHash],
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
/** Writes the forwards of blocks from payment addresses, each once. The blocks must be there already. */
export const insertForwards = async (
  tx: Queryable,
  caip2: string,
  blocks: readonly PlacedForwards[],
): Promise<void> => {
  const forwards = blocks.flatMap(block => block.forwards.map(forward => ({ forward, block })));
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
