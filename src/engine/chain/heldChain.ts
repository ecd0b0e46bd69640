import { type ChainRow, type Lease, lockChain } from '../../storage/chain/chains.ts';
import type { Queryable } from '../../storage/database.ts';

/** Another process reads the chain now. Nothing was written. */
export class LeaseLost extends Error {
  constructor() {
    super('another process has taken the lease of the chain');
  }
}

/** Locks the chain until the transaction ends. Throws if this process no longer has its lease. */
export const lockHeldChain = async (tx: Queryable, lease: Lease): Promise<ChainRow> => {
  const chain = await lockChain(tx, lease);
  if (!chain) throw new LeaseLost();
  return chain;
};
