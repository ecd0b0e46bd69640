import type { ChainStep } from '../../chains/driver.ts';
import { linkFault } from '../../chains/linkage.ts';
import type { Movement, WatchedBlock } from '../../core/chain.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import { insertBlocks, orphanBlocks, storedBlock } from '../../storage/chain/blocks.ts';
import { type ChainRow, clearRollback, type Lease, moveChain } from '../../storage/chain/chains.ts';
import { addressesFoundSince } from '../../storage/chain/coins.ts';
import { paymentsInBlocks, type TouchedPayment } from '../../storage/chain/transfers.ts';
import type { Queryable } from '../../storage/database.ts';
import { dueAtHeight } from '../../storage/payments/duePayments.ts';
import { insertForwards } from '../../storage/settlement/forwards.ts';
import type { ChangedForwards } from '../../storage/settlement/holdings.ts';
import type { Context } from '../context.ts';
import { recordAndAdvance } from '../payments/recordAndAdvance.ts';
import { settleSweeps } from '../settlement/settleSweeps.ts';
import { assertNotLost, branchOfStep, noteReached } from './branches.ts';
import { lockHeldChain } from './heldChain.ts';
import { writeMovements } from './writeMovements.ts';

/** Payments per frontier. */
const maxReached = 100;

export type BlocksStep = Extract<ChainStep, { kind: 'blocks' }>;

/** Marks the blocks above the fork as orphaned. Returns the payments whose funds may be gone with them. */
const rollBack = async (
  context: Context,
  tx: Queryable,
  chain: ChainRow,
  { rollbackTo }: BlocksStep,
): Promise<PaymentKey[]> => {
  if (rollbackTo === null) return [];
  const { vault } = context;
  const kept = await storedBlock(tx, vault, chain.caip2, rollbackTo.number);
  if (kept?.hash !== rollbackTo.hash) throw new Error('a rollback leads to a block that is not stored');
  await assertNotLost(context, tx, chain, kept);
  if (rollbackTo.number < (chain.finalizedNumber ?? -1)) throw new Error('a rollback leads below a finalized block');
  return orphanBlocks(tx, vault, chain.caip2, rollbackTo.number);
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

export const heightsWithForwards = (blocks: readonly WatchedBlock[]): number[] =>
  blocks.flatMap(({ number, forwards }) => (forwards.length > 0 ? [number] : []));

const uniquePayments = (keys: readonly PaymentKey[]): PaymentKey[] => [
  ...new Map(keys.map(key => [`${key.accountId} ${key.environment} ${key.id}`, key])).values(),
];

/**
 * Leaves out native coin that may already be recorded by balance: a node may have left out its transaction when the
 * block was first read.
 */
export const unrecordedMovements = async (
  tx: Queryable,
  caip2: string,
  { number, movements }: Pick<WatchedBlock, 'number' | 'movements'>,
): Promise<readonly Movement[]> => {
  const coins = movements.filter(({ contract }) => contract === null).map(({ to }) => to);
  const counted = await addressesFoundSince(tx, caip2, coins, number);
  return movements.filter(({ contract, to }) => contract !== null || !counted.has(to));
};

/** After a reorg, some of the new blocks may have been read before. */
const withUnrecorded = async (tx: Queryable, caip2: string, { rollbackTo, blocks }: BlocksStep) => {
  if (rollbackTo === null) return blocks;
  const counting: WatchedBlock[] = [];
  for (const block of blocks) counting.push({ ...block, movements: await unrecordedMovements(tx, caip2, block) });
  return counting;
};

export const isSettled = ({ isSettled }: TouchedPayment): boolean => isSettled;

/** Heights at which forwards were added or removed. */
const changedForwards = ({ rollbackTo, blocks }: BlocksStep): ChangedForwards =>
  rollbackTo !== null ? { from: rollbackTo.number + 1 } : { at: heightsWithForwards(blocks) };

/**
 * Applies a step in one transaction: blocks, transfers, the touched payments, their events, the cursor. Funds that a
 * reorg moved to another block of the same step never count as gone. `withReached`: payments that this step makes final are
 * decided with it, up to what one transaction can take.
 */
export const applyBlocks = async (
  context: Context,
  lease: Lease,
  step: BlocksStep,
  { withReached }: { readonly withReached: boolean } = { withReached: true },
): Promise<void> => {
  const branch = await recordAndAdvance(context, async (tx, advance) => {
    const chain = await lockHeldChain(tx, lease);
    assertLinked(chain, step);
    const { caip2 } = chain;
    const { tags } = step;
    const gone = await rollBack(context, tx, chain, step);
    const branch = await branchOfStep(context, tx, lease, chain, step.rollbackTo?.number ?? null);
    await insertBlocks(tx, context.vault, { caip2, branch, isShown: true }, step.blocks);
    const blocks = await withUnrecorded(tx, caip2, step);
    await writeMovements(context, tx, caip2, blocks);
    await insertForwards(tx, context.vault, caip2, blocks);
    await moveChain(tx, lease, { ...blocks.at(-1)!, branch }, tags);
    const touched = await paymentsInBlocks(tx, caip2, blocks);
    const reached = withReached ? await dueAtHeight(tx, caip2, maxReached) : [];
    await advance(uniquePayments([...gone, ...touched, ...reached]));
    await settleSweeps(context, tx, caip2, changedForwards(step), [...gone, ...touched.filter(isSettled)]);
    return branch;
  });
  noteReached(lease, { ...step.blocks.at(-1)!, branch });
};

/** Carries out the operator's decision: rolls back the blocks above a height, even final ones. */
export const rollBackAsDecided = (context: Context, lease: Lease, to: number): Promise<void> =>
  recordAndAdvance(context, async (tx, advance) => {
    const chain = await lockHeldChain(tx, lease);
    const kept = await storedBlock(tx, context.vault, chain.caip2, to);
    if (!kept) throw new Error('a rollback leads to a block that is not stored');
    await assertNotLost(context, tx, chain, kept);
    const gone = await orphanBlocks(tx, context.vault, chain.caip2, to);
    const { safeNumber: safe, finalizedNumber: finalized, agreedNumber: agreed } = chain;
    const branch = await branchOfStep(context, tx, lease, chain, to);
    await moveChain(tx, lease, { ...kept, branch }, { safe, finalized, agreed });
    await clearRollback(tx, chain.caip2);
    await advance(gone);
    await settleSweeps(context, tx, chain.caip2, { from: to + 1 }, gone);
  });
