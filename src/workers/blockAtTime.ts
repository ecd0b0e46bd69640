import type { Driver } from '../chains/driver.ts';
import type { Block } from '../core/chain.ts';

/** Clocks of block producers differ, and blocks count whole seconds. */
const slackMs = 60_000;

/**
 * The highest block a minute or more before a time, between two heights; the lower one if there is none. Null if the nodes do not
 * answer now.
 */
export const blockAtTime = async (
  driver: Pick<Driver, 'header'>,
  heights: { readonly from: number; readonly to: number },
  time: Date,
  signal: AbortSignal,
): Promise<number | null> => {
  let [low, high] = [heights.from, Math.max(heights.from, heights.to)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const block: Block | null = await driver.header(middle, signal);
    if (block === null) return null;
    if (block.timestamp * 1000 <= time.getTime() - slackMs) low = middle;
    else high = middle - 1;
  }
  return low;
};
