import type { ChainStep } from '../chains/driver.ts';
import { linkFault } from '../chains/linkage.ts';
import type { WatchedBlock } from '../core/chain.ts';
import { insertBlocks, orphanBlocks, storedBlock } from '../storage/blocks.ts';
import { type ChainRow, type Lease, lockChain, moveChain, rolledBack } from '../storage/chains.ts';
import type { Queryable } from '../storage/database.ts';
import { insertForwards } from '../storage/forwards.ts';
import { dueAtHeight, type PaymentKey } from '../storage/payments.ts';
import { insertTransfers, paymentsInBlocks } from '../storage/transfers.ts';
import { advanceWithin } from './advanceWithin.ts';
import type { Context } from './context.ts';

/** Somebody else reads the chain now. Nothing was written. */
export class LeaseLost extends Error {}

/** Of each frontier. */
const reachedShare = 100;

export type BlocksStep = Extract<ChainStep, { kind: 'blocks' }>;

/** Undoes the blocks above the fork. Answers the payments whose funds are gone with them. */
const rollBack = async (tx: Queryable, chain: ChainRow, { rollbackTo }: BlocksStep): Promise<PaymentKey[]> => {
  if (rollbackTo === null) return [];
  const kept = await storedBlock(tx, chain.caip2, rollbackTo.number);
  if (kept?.hash !== rollbackTo.hash) throw new Error('a rollback leads to a block that is not stored');
  if (rollbackTo.number < (chain.finalizedNumber ?? -1)) throw new Error('a rollback leads below a finalized block');
  return orphanBlocks(tx, chain.caip2, rollbackTo.number);
};

const assertLinked = (chain: ChainRow, { rollbackTo, blocks }: BlocksStep): void => {
  const { latestNumber, latestHash } = chain;
  const cursor = latestNumber === null || latestHash === null ? null : { number: latestNumber, hash: latestHash };
  const parent = rollbackTo ?? cursor;
  const [first, ...others] = blocks;
  if (first === undefined) throw new Error('a step without blocks');
  const fault = parent === null ? linkFault(first, others) : linkFault(parent, blocks);
  if (fault !== null) throw new Error(fault);
};

const uniquePayments = (keys: readonly PaymentKey[]): PaymentKey[] => [
  ...new Map(keys.map(key => [`${key.accountId} ${key.environment} ${key.id}`, key])).values(),
];

/**
 * Takes what the chain says in one transaction: blocks, transfers, the payments they touch, their events, the cursor.
 * Funds that a reorg moved to another block of the same step are never seen as gone.
 */
export const applyBlocks = (context: Context, lease: Lease, step: BlocksStep): Promise<void> =>
  context.db.transaction(async tx => {
    const chain = await lockChain(tx, lease);
    if (!chain) throw new LeaseLost('the lease of the chain has passed on');
    assertLinked(chain, step);
    const { caip2 } = chain;
    const { blocks, tags } = step;
    const gone = await rollBack(tx, chain, step);
    await insertBlocks(tx, caip2, blocks);
    const placed = <T>(of: (block: WatchedBlock) => readonly T[]) =>
      blocks.flatMap(block => of(block).map(item => ({ ...item, blockHash: block.hash, blockNumber: block.number })));
    await insertTransfers(
      tx,
      caip2,
      placed(block => block.movements),
    );
    await insertForwards(
      tx,
      caip2,
      placed(block => block.forwards),
    );
    await moveChain(tx, lease, blocks.at(-1)!, tags);
    const touched = [...gone, ...(await paymentsInBlocks(tx, caip2, blocks))];
    // What this block makes final is decided with it, as far as it is not too much for one transaction.
    const reached = await dueAtHeight(tx, caip2, reachedShare);
    await advanceWithin(context, tx, uniquePayments([...touched, ...reached]));
  });

/** Carries out the operator's word: blocks above a height are undone, finality or not. */
export const rollBackByHand = (context: Context, lease: Lease, to: number): Promise<void> =>
  context.db.transaction(async tx => {
    const chain = await lockChain(tx, lease);
    if (!chain) throw new LeaseLost('the lease of the chain has passed on');
    const kept = await storedBlock(tx, chain.caip2, to);
    if (!kept) throw new Error('a rollback leads to a block that is not stored');
    const gone = await orphanBlocks(tx, chain.caip2, to);
    const { safeNumber: safe, finalizedNumber: finalized, agreedNumber: agreed } = chain;
    await moveChain(tx, lease, kept, { safe, finalized, agreed });
    await rolledBack(tx, chain.caip2);
    await advanceWithin(context, tx, gone);
  });
