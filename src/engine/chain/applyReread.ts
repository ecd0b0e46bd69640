import type { WatchedBlock } from '../../core/chain.ts';
import { insertBlocks } from '../../storage/chain/blocks.ts';
import type { ChainRow, Lease } from '../../storage/chain/chains.ts';
import { verifyTransfers } from '../../storage/chain/transferSeals.ts';
import { paymentsInBlocks } from '../../storage/chain/transfers.ts';
import type { Queryable } from '../../storage/database.ts';
import { resolveExplained } from '../../storage/settlement/differences.ts';
import { insertForwards, verifyForwards } from '../../storage/settlement/forwards.ts';
import type { Context } from '../context.ts';
import { recordAndAdvance } from '../payments/recordAndAdvance.ts';
import { settleSweeps } from '../settlement/settleSweeps.ts';
import { heightsWithForwards, isSettled, unrecordedMovements } from './applyBlocks.ts';
import { lockHeldChain } from './heldChain.ts';
import { onlyOurs } from './ourBlocks.ts';
import { forgedFound, writeMovements } from './writeMovements.ts';

const isVerified = ({ verified }: { readonly verified: boolean }): boolean => verified;
const keysOf = (items: readonly { readonly key: string }[]): string[] => items.map(({ key }) => key);

/** Writes one block as it was read again. Returns how many transfers were not on record. */
const writeBlock = async (
  context: Context,
  tx: Queryable,
  { caip2, branch }: ChainRow,
  block: WatchedBlock,
): Promise<number> => {
  const { vault, log } = context;
  await insertBlocks(tx, vault, { caip2, branch, isShown: false }, [block]);
  const movements = await unrecordedMovements(tx, caip2, block);
  const found = await writeMovements(context, tx, caip2, [{ ...block, movements }]);
  await insertForwards(tx, vault, caip2, [block]);
  const forged = [
    ...(await verifyForwards(tx, vault, caip2, keysOf(block.forwards.filter(isVerified)))),
    ...(await verifyTransfers(tx, vault, caip2, keysOf(block.movements.filter(isVerified)))),
  ];
  if (forged.length > 0) log.error({ forged: 'movements', caip2, keys: forged }, forgedFound);
  return found;
};

/**
 * Writes what blocks contain that were read again: verifies recorded transfers and inserts those that a node left out
 * before. What is on record stays. Blocks of another branch are left out. `also` runs in the same transaction.
 */
export const applyReread = (
  context: Context,
  lease: Lease,
  blocks: readonly WatchedBlock[],
  also: (tx: Queryable, found: number) => Promise<void> = async () => {},
): Promise<number> =>
  recordAndAdvance(context, async (tx, advance) => {
    const chain = await lockHeldChain(tx, lease);
    const filled = blocks.filter(({ movements, forwards }) => movements.length + forwards.length > 0);
    const written = await onlyOurs(context, tx, chain, filled);
    let found = 0;
    for (const block of written) found += await writeBlock(context, tx, chain, block);
    if (written.length > 0) {
      const touched = await paymentsInBlocks(tx, chain.caip2, written);
      await advance(touched);
      await settleSweeps(context, tx, chain.caip2, { at: heightsWithForwards(written) }, touched.filter(isSettled));
      if (found > 0) await resolveExplained(tx, chain.caip2, touched);
    }
    await also(tx, found);
    return found;
  });

/** Writes only what is verified of a block that was read again. Returns the keys of that. */
export const applyVerified = async (
  context: Context,
  lease: Lease,
  block: WatchedBlock,
): Promise<readonly string[]> => {
  const [movements, forwards] = [block.movements.filter(isVerified), block.forwards.filter(isVerified)];
  const keys = keysOf([...movements, ...forwards]);
  if (keys.length > 0) await applyReread(context, lease, [{ ...block, movements, forwards }]);
  return keys;
};
