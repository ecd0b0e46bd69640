import type { ChainStep } from '../chains/driver.ts';
import { linkFault } from '../chains/linkage.ts';
import type { Movement, WatchedBlock } from '../core/chain.ts';
import { insertBlocks, orphanBlocks, storedBlock } from '../storage/blocks.ts';
import { type ChainRow, clearRollback, type Lease, lockChain, moveChain } from '../storage/chains.ts';
import { addressesFoundSince } from '../storage/coins.ts';
import type { Queryable } from '../storage/database.ts';
import { insertForwards } from '../storage/forwards.ts';
import { settleForwards } from '../storage/holdings.ts';
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

/** Plain coin that a node left out when it read the block first may be on record already, found by the balance. */
export const uncountedIn = async (
  tx: Queryable,
  caip2: string,
  { number, movements }: Pick<WatchedBlock, 'number' | 'movements'>,
): Promise<readonly Movement[]> => {
  const coins = movements.filter(({ contract }) => contract === null).map(({ to }) => to);
  const counted = await addressesFoundSince(tx, caip2, coins, number);
  return movements.filter(({ contract, to }) => contract !== null || !counted.has(to));
};

/** Of blocks that a reorg brings, some may have been read before, and left by another one. */
const toCount = async (tx: Queryable, caip2: string, { rollbackTo, blocks }: BlocksStep) => {
  if (rollbackTo === null) return blocks;
  const counting: WatchedBlock[] = [];
  for (const block of blocks) counting.push({ ...block, movements: await uncountedIn(tx, caip2, block) });
  return counting;
};

/** The lowest height at which forwards came or went; null where none can have. */
const forwardedFrom = ({ rollbackTo, blocks }: BlocksStep): number | null =>
  rollbackTo !== null ? rollbackTo.number + 1 : (blocks.find(({ forwards }) => forwards.length > 0)?.number ?? null);

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
    const { tags } = step;
    const gone = await rollBack(tx, chain, step);
    await insertBlocks(tx, caip2, step.blocks);
    const blocks = await toCount(tx, caip2, step);
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
    const settledFrom = forwardedFrom(step);
    if (settledFrom !== null) await settleForwards(tx, caip2, settledFrom);
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
    await clearRollback(tx, chain.caip2);
    await advanceWithin(context, tx, gone);
    await settleForwards(tx, chain.caip2, to + 1);
  });
