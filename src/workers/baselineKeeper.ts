import { RpcFault } from '../chains/evm/rpc.ts';
import { deriveXpubAddress } from '../chains/evm/xpub.ts';
import { xpubIdentity } from '../chains/evm/xpubIdentity.ts';
import type { Block } from '../core/chain.ts';
import type { Network } from '../core/registry/networks.ts';
import { nextIndexes, receivingKeys, refreshBaselines } from '../storage/chain/baselines.ts';
import type { ChainSources } from './chainSources.ts';

/** Indexes ahead of the next one whose balances are known, so that creating a payment asks no node: 100 at least. */
const [fewestAhead, mostAhead] = [100, 150];
const intervalMs = 5_000;
/** A baseline is read again after this time while no payment has its address. */
const refreshMs = 600_000;
/** Keys whose balances are read together: a node reads 500 per call. Deriving an address costs about a millisecond. */
const keysAtOnce = 3;
/** How long one turn may keep the watcher from new blocks, and the most keys of one turn. */
const [turnMs, keysPerTurn] = [2_000, 120];

/** The next addresses of a key: the first one has the index `from`. */
type Ahead = { readonly from: number; readonly addresses: readonly string[]; readonly readAtMs: number };

const fill = (key: string, old: Ahead | undefined, next: number): readonly string[] => {
  const kept = old !== undefined && next >= old.from ? old.addresses.slice(next - old.from) : [];
  const missing = Array.from({ length: mostAhead - kept.length }, (_, at) => next + kept.length + at);
  return [...kept, ...missing.map(index => deriveXpubAddress(key, index))];
};

/** Keys that were never read come first, then those with few addresses left, then those that were read longest ago. */
const byUrgency =
  (aheadOf: ReadonlyMap<string, Ahead>, leftOf: (key: string) => number) =>
  (a: string, b: string): number => {
    const [first, second] = [aheadOf.get(a), aheadOf.get(b)];
    if (first === undefined || second === undefined) return Number(first !== undefined) - Number(second !== undefined);
    const isShort = (key: string): number => Number(leftOf(key) >= fewestAhead);
    return isShort(a) - isShort(b) || first.readAtMs - second.readAtMs;
  };

/**
 * Reads the native coin that the next addresses of each extended public key hold before a payment has them. What is
 * above that afterwards is the payment's.
 */
export const createBaselineKeeper = (
  { context, driver, lease }: ChainSources,
  networks: readonly Network[],
  clock: { now(): number } = performance,
) => {
  const { db, vault, log } = context;
  const { caip2 } = lease;
  let lastTurnMs = Number.NEGATIVE_INFINITY;
  const aheadOf = new Map<string, Ahead>();

  /** Addresses that are read and unused; none if a restore has moved the counter back. */
  const leftOf = (key: string, next: number): number => {
    const ahead = aheadOf.get(key);
    return ahead === undefined || next < ahead.from ? 0 : ahead.from + ahead.addresses.length - next;
  };
  const isDue = (key: string, next: number): boolean =>
    leftOf(key, next) < fewestAhead || clock.now() - aheadOf.get(key)!.readAtMs >= refreshMs;

  /** Returns false if the balances cannot be read now. */
  const readKeys = async (
    keys: readonly { readonly key: string; readonly next: number }[],
    { head, readAt }: { readonly head: Block; readonly readAt: Date },
    signal: AbortSignal,
  ): Promise<boolean> => {
    const filled = keys.map(({ key, next }) => ({ key, from: next, addresses: fill(key, aheadOf.get(key), next) }));
    // Two keys can be wrappings of one, with the same addresses.
    const holders = [...new Set(filled.flatMap(({ addresses }) => addresses))];
    // The highest answer: what was there before is never credited.
    const balances = await driver.balances({ token: null, holders, block: head }, 'highest', signal);
    if (balances === null) return false;
    const read = holders.map(address => ({ address, amount: balances.get(address)! }));
    await refreshBaselines(db, vault, caip2, { balances: read, blockNumber: head.number, readAt });
    for (const { key, ...ahead } of filled) aheadOf.set(key, { ...ahead, readAtMs: clock.now() });
    return true;
  };

  const turn = async (head: Block, readAt: Date, signal: AbortSignal): Promise<void> => {
    const untilMs = clock.now() + turnMs;
    const keys = await receivingKeys(db, networks);
    const known = new Set(keys);
    for (const key of aheadOf.keys()) if (!known.has(key)) aheadOf.delete(key);
    const seriesOf = new Map(keys.map(key => [key, `xpub/${xpubIdentity(key)}`]));
    const nexts = await nextIndexes(db, [...seriesOf.values()]);
    const nextOf = (key: string): number => nexts.get(seriesOf.get(key)!) ?? 0;
    const due = keys
      .filter(key => isDue(key, nextOf(key)))
      .sort(byUrgency(aheadOf, key => leftOf(key, nextOf(key))))
      .slice(0, keysPerTurn)
      .map(key => ({ key, next: nextOf(key) }));
    for (let at = 0; at < due.length; at += keysAtOnce) {
      if (!(await readKeys(due.slice(at, at + keysAtOnce), { head, readAt }, signal))) return;
      if (clock.now() >= untilMs) return;
    }
  };

  return async (head: Block, readAt: Date, signal: AbortSignal): Promise<void> => {
    if (clock.now() - lastTurnMs < intervalMs) return;
    lastTurnMs = clock.now();
    try {
      await turn(head, readAt, signal);
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      log.warn({ caip2, fault: error.message }, 'balances of the next addresses could not be read');
    }
  };
};
