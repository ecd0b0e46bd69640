import type { BlockRange, DriverHost } from '../chains/driver.ts';
import type { WatchedBlock } from '../core/chain.ts';
import { applyReread } from '../engine/chain/applyReread.ts';
import type { UnreadPayment } from '../storage/chain/addressChecks.ts';
import { readChains } from '../storage/chain/chains.ts';
import { insertRescan } from '../storage/chain/rescans.ts';
import { recordedHeights, rescannedFrom } from '../storage/chain/surplusSearch.ts';
import { blockAtTime } from './blockAtTime.ts';
import type { ChainSources } from './chainSources.ts';

/** Blocks per request for logs: fewer if the node refuses, and so many requests at most. */
const [widestRange, narrowestRange, maxRequests] = [5_000, 50, 300];
const addressesAtOnce = 100;
/** Blocks with transfers that are read again for one set of addresses. */
const maxBlocks = 200;

/** Heights to read, and the highest block that is neither searched nor read; null if there is none. */
type Search = { readonly heights: readonly number[]; readonly leftTo: number | null };

/**
 * Heights at which a token was transferred to one of the payments, newest ranges first. Those without a transfer on
 * record come first: anybody can send dust, which must not hide what was missed. Null if nodes do not answer.
 */
const transferHeights = async (
  { context, driver, lease }: ChainSources,
  token: string,
  payments: readonly UnreadPayment[],
  range: BlockRange,
  signal: AbortSignal,
): Promise<Search | null> => {
  const addresses = payments.map(({ address }) => address);
  const known = { token, paymentIds: payments.map(({ id }) => id) };
  const [unrecorded, recorded]: [number[], number[]] = [[], []];
  let [to, width] = [range.to, widestRange];
  for (let asked = 0; asked < maxRequests && to >= range.from && unrecorded.length < maxBlocks; asked++) {
    const from = Math.max(range.from, to - width + 1);
    const found = await driver.transferBlocks(token, addresses, { from, to }, signal);
    if (found === null && width <= narrowestRange) return null;
    if (found === null) {
      width = Math.max(narrowestRange, Math.floor(width / 4));
      continue;
    }
    const onRecord = await recordedHeights(context.db, lease.caip2, found, known);
    for (const height of found) (onRecord.has(height) ? recorded : unrecorded).push(height);
    to = from - 1;
  }
  const all = [...unrecorded, ...recorded];
  const left = all.slice(maxBlocks).reduce((most, height) => Math.max(most, height), to);
  return { heights: all.slice(0, maxBlocks), leftTo: left >= range.from ? left : null };
};

/** Asks for blocks that a search did not reach, unless they are or will be read for these payments. */
const rescanLeft = async (
  { context, lease }: ChainSources,
  payments: readonly UnreadPayment[],
  { from, to }: BlockRange,
): Promise<void> => {
  // For all addresses if there are several: this costs a node no more than one of them.
  const address = payments.length === 1 ? payments[0]!.address : null;
  const { caip2 } = lease;
  const { isOpen, readTo } = await rescannedFrom(context.db, caip2, address, from);
  const first = Math.max(from, (readTo ?? -1) + 1);
  if (isOpen || first > to) return;
  await insertRescan(context.db, {
    caip2,
    from: first,
    to,
    address,
    reason: 'a search for missed transfers ended early',
  });
  context.log.warn({ caip2, from: first, to, address }, 'a search for missed transfers goes on as a rescan');
};

/**
 * Searches the blocks since the creation of payments for transfers that were missed, and writes them as if they had
 * just been read. What is too much for now becomes a rescan. Returns false if the nodes do not answer.
 */
export const explainSurplus = async (
  sources: ChainSources,
  host: DriverHost,
  token: string,
  payments: readonly UnreadPayment[],
  head: number,
  signal: AbortSignal,
): Promise<boolean> => {
  const { context, driver, lease } = sources;
  const [chain] = await readChains(context.db, [lease.caip2]);
  for (let at = 0; at < payments.length; at += addressesAtOnce) {
    const some = payments.slice(at, at + addressesAtOnce);
    const oldest = new Date(Math.min(...some.map(({ createdAt }) => createdAt.getTime())));
    const from = await blockAtTime(driver, { from: chain?.startNumber ?? 0, to: head }, oldest, signal);
    if (from === null) return false;
    const search = await transferHeights(sources, token, some, { from, to: head }, signal);
    if (search === null) return false;
    const blocks: WatchedBlock[] = [];
    for (const number of search.heights) {
      const [block] = (await driver.rereadRange({ from: number, to: number }, host, signal)) ?? [];
      if (block === undefined) return false;
      blocks.push(block);
    }
    const found = await applyReread(context, lease, blocks);
    if (found > 0) {
      context.log.error({ caip2: lease.caip2, found }, 'transfers were found that had been missed');
    }
    if (search.leftTo !== null) await rescanLeft(sources, some, { from, to: search.leftTo });
  }
  return true;
};
