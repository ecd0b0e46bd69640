import type { Block, WatchedBlock } from '../../core/chain.ts';
import { linkFault } from '../linkage.ts';
import type { LoggedBlock } from './fetchBlocks.ts';

export type Range = { readonly from: number; readonly to: number };

/** A range that is being read; `done` once it is. */
type Reading = { readonly blocks: Promise<readonly WatchedBlock[]>; done: readonly WatchedBlock[] | null };

/** Ranges that are asked for at once, and those that wait to be taken beside them: writing must not keep the node idle. */
const [rangesInFlight, rangesAhead] = [4, 16];
/** More blocks, or more that reached payments in them, are too much for one transaction. */
const [mostBlocks, mostMovements] = [500, 1_000];

const weightOf = (blocks: readonly WatchedBlock[]): number =>
  blocks.reduce((sum, { movements, forwards }) => sum + movements.length + forwards.length, 0);

const isSmall = (blocks: readonly WatchedBlock[]): boolean =>
  blocks.length <= mostBlocks && weightOf(blocks) <= mostMovements;

/** What the database writes well within its time; 190,000 in one step ran out of it, again and again. */
const mostInStep = 5_000;

/** The blocks in steps that are not too much for one transaction, or of a single block. */
export const inPortions = (blocks: readonly WatchedBlock[]): readonly (readonly WatchedBlock[])[] => {
  const portions: WatchedBlock[][] = [];
  let left = 0;
  for (const block of blocks) {
    const weight = weightOf([block]);
    if (portions.length === 0 || weight > left) {
      portions.push([]);
      left = mostInStep;
    }
    portions.at(-1)!.push(block);
    left -= weight;
  }
  return portions;
};

/**
 * The blocks after `block`, up to `end`, read by range and several ranges ahead of whoever takes them. Ends early where
 * they do not follow on each other.
 */
export async function* readAhead(
  block: Pick<Block, 'number' | 'hash'>,
  end: number,
  options: {
    /** Blocks in the next range. */
    readonly width: () => number;
    readonly fetch: (range: Range) => Promise<readonly LoggedBlock[]>;
    readonly watch: (fetched: readonly LoggedBlock[]) => Promise<readonly WatchedBlock[]>;
  },
): AsyncGenerator<readonly WatchedBlock[]> {
  const ahead: Reading[] = [];
  let asked = block.number;
  let inFlight = 0;
  let isOver = false;
  let lastRead: Promise<unknown> = Promise.resolve();
  // Matched while the ranges before it are being applied: that misses nobody, as its blocks are older than the question.
  // One after the other, or a node would have the balances of all of them to read at once.
  const read = async (range: Range, before: Promise<unknown>): Promise<readonly WatchedBlock[]> => {
    inFlight++;
    const fetched = await options.fetch(range).finally(() => inFlight--);
    ask();
    await before;
    return options.watch(fetched);
  };
  const ask = (): void => {
    while (!isOver && inFlight < rangesInFlight && ahead.length < rangesAhead && asked < end) {
      const range: Range = { from: asked + 1, to: Math.min(end, asked + options.width()) };
      const reading: Reading = { blocks: read(range, lastRead), done: null };
      lastRead = reading.blocks.then(
        blocks => {
          reading.done = blocks;
        },
        // Told to whoever takes this range; what lies above it is of no use.
        () => {
          isOver = true;
        },
      );
      ahead.push(reading);
      asked = range.to;
    }
  };
  let parent = block;
  ask();
  try {
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
      const blocks = [...(await next.blocks)];
      // Where writing is slower than reading, what has been read meanwhile is written together.
      while (ahead[0]?.done && isSmall([...blocks, ...ahead[0].done])) blocks.push(...ahead.shift()!.done!);
      ask();
      if (linkFault(parent, blocks) !== null) return;
      parent = blocks.at(-1)!;
      yield blocks;
    }
  } finally {
    isOver = true;
  }
}
