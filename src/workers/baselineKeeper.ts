import { RpcFault } from '../chains/evm/rpc.ts';
import { deriveXpubAddress } from '../chains/evm/xpub.ts';
import { xpubIdentity } from '../chains/evm/xpubIdentity.ts';
import type { Block } from '../core/chain.ts';
import type { Network } from '../core/registry/networks.ts';
import { nextIndexes, receivingKeys, refreshBaselines } from '../storage/baselines.ts';
import type { ChainSources } from './chainSources.ts';

/** Indexes ahead of the next one whose balances are known, so that creating a payment asks no node: 100 at least. */
const [fewestAhead, mostAhead] = [100, 150];
const intervalMs = 5_000;
/** A baseline is read again after this time while no payment has its address. */
const refreshMs = 600_000;
/** Deriving an address costs about a millisecond. */
const keysPerTurn = 3;

/** The next addresses of a key: the first one has the index `from`. */
type Ahead = { readonly from: number; readonly addresses: readonly string[]; readonly readAtMs: number };

const fill = (key: string, old: Ahead | undefined, next: number): readonly string[] => {
  const kept = old !== undefined && next >= old.from ? old.addresses.slice(next - old.from) : [];
  const missing = Array.from({ length: mostAhead - kept.length }, (_, at) => next + kept.length + at);
  return [...kept, ...missing.map(index => deriveXpubAddress(key, index))];
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
  const { db, log } = context;
  const { caip2 } = lease;
  let lastTurnMs = Number.NEGATIVE_INFINITY;
  const aheadOf = new Map<string, Ahead>();

  const isDue = (ahead: Ahead | undefined, next: number): boolean =>
    ahead === undefined ||
    clock.now() - ahead.readAtMs >= refreshMs ||
    next < ahead.from ||
    ahead.from + ahead.addresses.length - next < fewestAhead;

  const turn = async (head: Block, readAt: Date, signal: AbortSignal): Promise<void> => {
    const keys = await receivingKeys(db, networks);
    const seriesOf = new Map(keys.map(key => [key, `xpub/${xpubIdentity(key)}`]));
    const next = await nextIndexes(db, [...seriesOf.values()]);
    const nextOf = (key: string): number => next.get(seriesOf.get(key)!) ?? 0;
    const due = keys.filter(key => isDue(aheadOf.get(key), nextOf(key))).slice(0, keysPerTurn);
    for (const key of due) {
      const addresses = fill(key, aheadOf.get(key), nextOf(key));
      // The highest answer: what was there before is never credited.
      const balances = await driver.balances({ token: null, holders: addresses, block: head }, 'highest', signal);
      if (balances === null) return;
      const read = addresses.map(address => ({ address, amount: balances.get(address)! }));
      await refreshBaselines(db, caip2, { balances: read, blockNumber: head.number, readAt });
      aheadOf.set(key, { from: nextOf(key), addresses, readAtMs: clock.now() });
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
