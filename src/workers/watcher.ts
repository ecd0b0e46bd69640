import { setTimeout as pause } from 'node:timers/promises';
import type { ChainHealth, Driver, DriverHost } from '../chains/driver.ts';
import type { Network } from '../core/registry/networks.ts';
import { applyBlocks, LeaseLost, rollBackByHand } from '../engine/applyBlocks.ts';
import type { Context } from '../engine/context.ts';
import { storedBlock } from '../storage/blocks.ts';
import {
  type ChainRow,
  haltChain,
  type Lease,
  leaseSeconds,
  readChains,
  releaseLease,
  renewLease,
  takeLease,
  writeIdle,
} from '../storage/chains.ts';
import { type Measurement, writeNetworkStatus } from '../storage/networkStatus.ts';
import { dueAtHeight, readNow } from '../storage/payments.ts';
import { knownAddresses } from '../storage/transfers.ts';
import { advanceInSets } from './advanceInSets.ts';
import { createCoinScanner } from './coinScanner.ts';
import { createHysteresis, type Verdict } from './hysteresis.ts';
import type { Loop } from './loop.ts';
import { createVerifier } from './verifier.ts';

/** A chain and all the slugs it stands behind. */
export type WatchedChain = { readonly caip2: string; readonly networks: readonly Network[]; readonly driver: Driver };

export type Watchers = Loop & {
  /** Settles when each of these chains has been measured once. */
  measured(caip2s: readonly string[]): Promise<unknown>;
};

const heartbeatMs = 1_000;
/** Without news a status is written with every second heartbeat, which keeps its `checkedAt` within two seconds. */
const restatedMs = 1.5 * heartbeatMs;
const dueShare = 200;
const blocksBehind = 20;
/** Native coin that contracts send costs questions that others do not; so often at most. */
const leastScanMs = 5_000;
/** Transfers that could not be verified are looked at again so often. */
const verifyMs = 30_000;
const [shortestRestMs, longestRestMs] = [250, 10_000];

const coinScanMs = ({ networks }: WatchedChain): number => {
  const [{ backing, blockTimeSeconds }] = networks as [Network];
  return backing === 'devchain' ? 0 : Math.max(leastScanMs, blockTimeSeconds * 1000);
};

/** Payments that waited for a height which the chain has reached by now. */
const advanceReached = async (context: Context, caip2: string, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    const due = await dueAtHeight(context.db, caip2, dueShare);
    if (due.length === 0) return;
    // Rows that somebody else holds are theirs to decide; they stay due for the next round.
    if ((await advanceInSets(context, due, signal)) === 0) return;
  }
};

const driverHost = (context: Context, row: ChainRow): DriverHost & { finalize(height: number | null): void } => {
  let finalized = row.finalizedNumber;
  return {
    paymentAddresses: addresses => knownAddresses(context.db, addresses),
    storedBlock: number => storedBlock(context.db, row.caip2, number),
    now: () => readNow(context.db),
    finalizedHeight: () => finalized,
    finalize: height => {
      finalized = height;
    },
  };
};

/** Reads the chain as long as the lease is ours. `onIdle` is called whenever all that there is has been read. */
const follow = async (
  context: Context,
  chain: WatchedChain,
  row: ChainRow,
  onIdle: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const { caip2, driver } = chain;
  const lease: Lease = { caip2, fence: row.fence };
  const cursor = row.latestNumber === null ? null : await storedBlock(context.db, caip2, row.latestNumber);
  const host = driverHost(context, row);
  const verify = createVerifier(context, driver, lease, verifyMs);
  const scanCoins = createCoinScanner(context, driver, lease, coinScanMs(chain));
  for await (const step of driver.follow(cursor, host, signal)) {
    if (step.kind === 'halt') {
      context.log.error({ caip2, reason: step.reason }, 'a chain is halted until an operator decides');
      await haltChain(context.db, lease, step.reason);
      return;
    }
    if (step.kind === 'blocks') {
      await applyBlocks(context, lease, step);
      const latest = step.blocks.at(-1)!.number;
      if (step.tags.finalized !== null) host.finalize(Math.min(step.tags.finalized, latest));
      if (step.rollbackTo) {
        context.log.warn({ caip2, to: step.rollbackTo.number, latest }, 'a chain was reorganised');
      }
    } else {
      await writeIdle(context.db, lease, step.tags, step.caughtUpAt);
      if (step.caughtUpAt !== null) await scanCoins(step.at, step.caughtUpAt, signal);
      await verify(host, signal);
      await onIdle();
    }
    await advanceReached(context, caip2, signal);
  }
};

const verdictOf = ({ status, reason, latestBlock }: ChainHealth, row: ChainRow | null): Verdict => {
  if (row?.haltReason) return { status: 'down', reason: `It is halted. ${row.haltReason}` };
  const behind = (latestBlock ?? 0) - (row?.latestNumber ?? latestBlock ?? 0);
  if (status === 'operational' && behind > blocksBehind) {
    return { status: 'degraded', reason: `${behind} blocks are still to be read.` };
  }
  return { status, reason };
};

/** What the chain's state means for one of the networks it stands behind. */
const measure = (network: Network, health: ChainHealth, row: ChainRow | null): Measurement => {
  const { environment, slug, caip2, currencies } = network;
  const { latestBlock, lagSeconds, unfitTokens } = health;
  const unfit = currencies.flatMap(({ symbol, contractAddress }) => {
    const reason = contractAddress === null ? undefined : unfitTokens.get(contractAddress);
    return reason === undefined ? [] : [[symbol, reason] as const];
  });
  const verdict = verdictOf(health, row);
  return {
    environment,
    network: slug,
    caip2,
    status: verdict.status,
    reason: verdict.reason,
    latestBlock: latestBlock === null ? null : BigInt(latestBlock),
    lagSeconds,
    disabledCurrencies: Object.fromEntries(unfit),
  };
};

const startWatcher = (context: Context, chain: WatchedChain, holder: string) => {
  const { caip2, networks } = chain;
  const stopping = new AbortController();
  const measured = Promise.withResolvers<void>();
  const steady = createHysteresis();

  let written: { readonly news: string; readonly atMs: number } | null = null;
  const writeStatus = async (row: ChainRow | null): Promise<void> => {
    const health = chain.driver.health();
    if (health === null) return;
    // Blocks before the first that is read are never looked at: nobody may be given an address until then.
    const isRead = row !== null && row.latestNumber !== null;
    if (!isRead && health.status !== 'down') return;
    const { status, reason } = steady(measure(networks[0]!, health, row));
    // Not the lag: it grows by itself on a chain that rests.
    const news = JSON.stringify([status, reason, health.latestBlock, [...health.unfitTokens]]);
    const nowMs = performance.now();
    if (written?.news === news && nowMs - written.atMs < restatedMs) return;
    const all = networks.map(network => ({ ...measure(network, health, row), status, reason }));
    await writeNetworkStatus(context.db, all);
    written = { news, atMs: nowMs };
    measured.resolve();
  };
  /** Later ones come with the heartbeat. */
  const writeFirstStatus = async (): Promise<void> => {
    if (written === null) await writeStatus((await readChains(context.db, [caip2]))[0] ?? null);
  };

  /** Keeps the lease and tells how the chain is, until either ends. */
  const beat = async (lease: Lease, lose: (reason: LeaseLost) => void, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        const row = await renewLease(context.db, lease, leaseSeconds);
        if (row === null) return lose(new LeaseLost('the lease is lost'));
        await writeStatus(row);
      } catch (error) {
        context.log.warn({ caip2, err: error }, 'the state of a chain could not be written');
      }
      await pause(heartbeatMs, undefined, { signal }).catch(() => undefined);
    }
  };

  const lead = async (row: ChainRow): Promise<void> => {
    const lease: Lease = { caip2, fence: row.fence };
    const over = new AbortController();
    // Also where the stop came while the lease was on its way: an event would have passed already.
    const signal = AbortSignal.any([stopping.signal, over.signal]);
    const beating = beat(lease, reason => over.abort(reason), signal);
    try {
      while (!signal.aborted) {
        const [now] = await readChains(context.db, [caip2]);
        if (now && now.rollbackTo !== null) await rollBackByHand(context, lease, now.rollbackTo);
        else if (now?.haltReason === null) await follow(context, chain, now, writeFirstStatus, signal);
        else await pause(heartbeatMs, undefined, { signal }).catch(() => undefined);
      }
    } finally {
      over.abort();
      await beating;
      await releaseLease(context.db, lease).catch(() => undefined);
    }
  };

  const run = async (): Promise<void> => {
    let restMs = shortestRestMs;
    while (!stopping.signal.aborted) {
      try {
        const row = await takeLease(context.db, { caip2, holder, seconds: leaseSeconds });
        if (row === null) {
          // Somebody else reads this chain, and tells of it.
          measured.resolve();
        } else {
          await lead(row);
          restMs = shortestRestMs;
        }
      } catch (error) {
        if (!stopping.signal.aborted) context.log.error({ caip2, err: error }, 'the watcher of a chain failed');
      }
      await pause(restMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      restMs = Math.min(restMs * 2, longestRestMs);
    }
  };
  const running = run();
  return {
    caip2,
    measured: measured.promise,
    async stop() {
      stopping.abort();
      await running;
    },
  };
};

/** One watcher a chain; of several processes, one at a time reads it. `holder` names this process. */
export const startWatchers = (context: Context, chains: readonly WatchedChain[], holder: string): Watchers => {
  const watchers = chains.map(chain => startWatcher(context, chain, holder));
  return {
    measured: caip2s =>
      Promise.all(watchers.filter(({ caip2 }) => caip2s.includes(caip2)).map(watcher => watcher.measured)),
    async stop() {
      await Promise.all(watchers.map(watcher => watcher.stop()));
    },
  };
};
