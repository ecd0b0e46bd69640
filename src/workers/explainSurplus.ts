import type { BlockRange, Driver, DriverHost } from '../chains/driver.ts';
import type { WatchedBlock } from '../core/chain.ts';
import { applyReread } from '../engine/applyReread.ts';
import type { UnreadPayment } from '../storage/addressChecks.ts';
import { readChains } from '../storage/chains.ts';
import { blockAtTime } from './blockAtTime.ts';
import type { ChainSources } from './chainSources.ts';

/** Blocks per request for logs: fewer if the node refuses, and so many requests at most. */
const [widestRange, narrowestRange, maxRequests] = [5_000, 50, 300];
const addressesAtOnce = 100;
/** Blocks with transfers that are read again for one set of addresses. */
const maxBlocks = 200;

/** Heights at which a token was transferred to one of the addresses, newest ranges first. Null if nodes do not answer. */
const transferHeights = async (
  driver: Driver,
  token: string,
  addresses: readonly string[],
  range: BlockRange,
  signal: AbortSignal,
): Promise<readonly number[] | null> => {
  const heights: number[] = [];
  let [to, width] = [range.to, widestRange];
  for (let asked = 0; asked < maxRequests && to >= range.from && heights.length < maxBlocks; asked++) {
    const from = Math.max(range.from, to - width + 1);
    const found = await driver.transferBlocks(token, addresses, { from, to }, signal);
    if (found === null && width <= narrowestRange) return null;
    if (found === null) {
      width = Math.max(narrowestRange, Math.floor(width / 4));
      continue;
    }
    heights.push(...found);
    to = from - 1;
  }
  return heights.slice(0, maxBlocks);
};

/**
 * Searches the blocks since the creation of payments for transfers that were missed, and writes them as if they had
 * just been read. Returns false if the nodes do not answer.
 */
export const explainSurplus = async (
  { context, driver, lease }: ChainSources,
  host: DriverHost,
  token: string,
  payments: readonly UnreadPayment[],
  head: number,
  signal: AbortSignal,
): Promise<boolean> => {
  const [chain] = await readChains(context.db, [lease.caip2]);
  for (let at = 0; at < payments.length; at += addressesAtOnce) {
    const some = payments.slice(at, at + addressesAtOnce);
    const oldest = new Date(Math.min(...some.map(({ createdAt }) => createdAt.getTime())));
    const from = await blockAtTime(driver, { from: chain?.startNumber ?? 0, to: head }, oldest, signal);
    if (from === null) return false;
    const addresses = some.map(({ address }) => address);
    const heights = await transferHeights(driver, token, addresses, { from, to: head }, signal);
    if (heights === null) return false;
    const blocks: WatchedBlock[] = [];
    for (const number of heights) {
      const [block] = (await driver.rereadRange({ from: number, to: number }, host, signal)) ?? [];
      if (block === undefined) return false;
      blocks.push(block);
    }
    const found = await applyReread(context, lease, blocks);
    if (found > 0) {
      context.log.error({ caip2: lease.caip2, found }, 'transfers were found that had been missed');
    }
  }
  return true;
};
