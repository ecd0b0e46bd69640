import type { Block, WatchedBlock } from '../../core/chain.ts';
import { linkFault } from '../linkage.ts';
import type { LoggedBlock } from './fetchBlocks.ts';

export type Range = { readonly from: number; readonly to: number };

/** A range that is being read; `done` is set when it is complete. */
type Reading = { readonly blocks: Promise<readonly WatchedBlock[]>; done: readonly WatchedBlock[] | null };

/** Ranges in flight, and complete ranges waiting: writing must not keep the node idle. */
const [rangesInFlight, rangesAhead] = [4, 16];
/** Ranges are merged only up to these sizes, which one transaction can write. */
const [maxBlocks, maxMovements] = [500, 1_000];

const weightOf = (blocks: readonly WatchedBlock[]): number =>
  blocks.reduce((sum, { movements, forwards }) => sum + movements.length + forwards.length, 0);

const isSmall = (blocks: readonly WatchedBlock[]): boolean =>
  blocks.length <= maxBlocks && weightOf(blocks) <= maxMovements;

/** Movements and forwards in one step. 190,000 in one step ran into the statement timeout again and again. */
const maxInStep = 5_000;

/** Splits blocks into steps that one transaction can write. A single block is never split. */
export const inPortions = (blocks: readonly WatchedBlock[]): readonly (readonly WatchedBlock[])[] => {
  const portions: WatchedBlock[][] = [];
  let left = 0;
  for (const block of blocks) {
    const weight = weightOf([block]);
    if (portions.length === 0 || weight > left) {
      portions.push([]);
      left = maxInStep;
    }
    portions.at(-1)!.push(block);
    left -= weight;
  }
  return portions;
};

/**
 * Reads the blocks after `block` up to `end` by range, several ranges ahead of the consumer. Ends early if the ranges
 * do not link.
 */
export async function* readAhead(
  block: Pick<Block, 'number' | 'hash'>,
  end: number,
  options: {
    /** Number of blocks in the next range. */
    readonly width: () => number;
    readonly fetch: (range: Range) => Promise<readonly LoggedBlock[]>;
    readonly watch: (fetched: readonly LoggedBlock[]) => Promise<readonly WatchedBlock[]>;
  },
): AsyncGenerator<readonly WatchedBlock[]> {
  const ahead: Reading[] = [];
  let requestedTo = block.number;
  let inFlight = 0;
  let isOver = false;
  let lastRead: Promise<unknown> = Promise.resolve();
  // Addresses are matched while earlier ranges are still being written. No payment is missed: payments created since
  // are younger than these blocks. Ranges are matched one after the other, so that a node does not get all their
  // balance calls at once.
  const read = async (range: Range, before: Promise<unknown>): Promise<readonly WatchedBlock[]> => {
    inFlight++;
    const fetched = await options.fetch(range).finally(() => inFlight--);
    requestRanges();
    await before;
    return options.watch(fetched);
  };
  const requestRanges = (): void => {
    while (!isOver && inFlight < rangesInFlight && ahead.length < rangesAhead && requestedTo < end) {
      const range: Range = { from: requestedTo + 1, to: Math.min(end, requestedTo + options.width()) };
      const reading: Reading = { blocks: read(range, lastRead), done: null };
      lastRead = reading.blocks.then(
        blocks => {
          reading.done = blocks;
        },
        // The consumer of this range gets the error. The ranges above it are useless.
        () => {
          isOver = true;
        },
      );
      ahead.push(reading);
      requestedTo = range.to;
    }
  };
  let parent = block;
  requestRanges();
  try {
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
      const blocks = [...(await next.blocks)];
      // If writing is slower than reading, complete ranges are written together.
      while (ahead[0]?.done && isSmall([...blocks, ...ahead[0].done])) blocks.push(...ahead.shift()!.done!);
      requestRanges();
      if (linkFault(parent, blocks) !== null) return;
      parent = blocks.at(-1)!;
      yield blocks;
    }
  } finally {
    isOver = true;
  }
}
