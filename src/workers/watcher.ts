import { setTimeout as pause } from 'node:timers/promises';
import type { ChainHealth, Driver, DriverHost } from '../chains/driver.ts';
import { backOffMs } from '../core/backOff.ts';
import type { Block } from '../core/chain.ts';
import type { Log } from '../core/log.ts';
import type { Network } from '../core/registry/networks.ts';
import { applyBlocks, rollBackAsDecided } from '../engine/chain/applyBlocks.ts';
import { LeaseLost } from '../engine/chain/heldChain.ts';
import { publishReadContracts } from '../engine/chain/publishContracts.ts';
import type { Context } from '../engine/context.ts';
import { ForgedBlock } from '../storage/chain/blockSeals.ts';
import { storedBlock } from '../storage/chain/blocks.ts';
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
} from '../storage/chain/chains.ts';
import { writeFactoryState, writeNetworkStatus } from '../storage/chain/networkStatus.ts';
import { knownAddresses } from '../storage/chain/transfers.ts';
import { readNow } from '../storage/databaseClock.ts';
import { ForgedRow } from '../storage/seals.ts';
import { createBaselineKeeper } from './baselineKeeper.ts';
import { createClosedScanner } from './closedScanner.ts';
import { createCoinScanner } from './coinScanner.ts';
import { createExpiryReader } from './expiryReader.ts';
import { createHysteresis } from './hysteresis.ts';
import type { Loop } from './loop.ts';
import { measureNetwork } from './measureNetwork.ts';
import { type AdvanceTurns, createReachedAdvance, type ReachedAdvance } from './reachedAdvance.ts';
import { createReconciler } from './reconciler.ts';
import { createRescanner } from './rescanner.ts';
import { createVerifier } from './verifier.ts';

/** A chain and the networks that it backs. */
export type WatchedChain = { readonly caip2: string; readonly networks: readonly Network[]; readonly driver: Driver };

export type Watchers = Loop & {
  /** Settles when each of these chains has been measured once. */
  measured(caip2s: readonly string[]): Promise<unknown>;
};

const heartbeatMs = 1_000;
/** An unchanged status is written with every second heartbeat, so that `checkedAt` is at most two seconds old. */
const rewriteMs = 1.5 * heartbeatMs;
/** Interval of balance scans, which need extra RPC calls. */
const minScanMs = 5_000;
/** How many blocks back a reorg may reach. The local chain mines only on demand and reorganises only by simulation. */
const deepestReorg = 256;
/** Interval for checking unverified transfers again. */
const verifyMs = 30_000;
/** How long reading overdue addresses may keep the watcher from new blocks: nodes drop the state of older ones. */
const overdueTurnMs = 120_000;
const [minRetryMs, maxRetryMs] = [250, 10_000];

const forgedChain =
  'records of a chain were changed in the database, so it is not read: run florin doctor, and restore a backup';
const noteFailure = (log: Log, caip2: string, error: unknown): void => {
  const isForged = error instanceof ForgedRow || error instanceof ForgedBlock;
  if (isForged) log.error({ forged: 'chains', caip2, err: error }, forgedChain);
  else log.error({ caip2, err: error }, 'the watcher of a chain failed');
};

const isLocal = ({ networks }: WatchedChain): boolean => networks[0]!.backing === 'devchain';

const coinScanMs = (chain: WatchedChain): number =>
  isLocal(chain) ? 0 : Math.max(minScanMs, chain.networks[0]!.blockTimeSeconds * 1000);

const driverHost = (context: Context, row: ChainRow): DriverHost & { finalize(height: number | null): void } => {
  let finalized = row.finalizedNumber;
  return {
    paymentAddresses: addresses => knownAddresses(context.db, addresses),
    storedBlock: number => storedBlock(context.db, context.vault, row.caip2, number),
    now: () => readNow(context.db),
    finalizedHeight: () => finalized,
    finalize: height => {
      finalized = height;
    },
  };
};

type Following = {
  readonly context: Context;
  readonly chain: WatchedChain;
  readonly row: ChainRow;
  readonly reached: ReachedAdvance;
  /** Called whenever all blocks are read. */
  readonly onIdle: () => Promise<void>;
};

/** Takes the steps of the chain while this process has the lease. */
const takeSteps = async ({ context, chain, row, reached, onIdle }: Following, signal: AbortSignal): Promise<void> => {
  const { caip2, driver } = chain;
  const lease: Lease = { caip2, fence: row.fence };
  const cursor =
    row.latestNumber === null ? null : await storedBlock(context.db, context.vault, caip2, row.latestNumber);
  const host = driverHost(context, row);
  await publishReadContracts(context, lease, driver.contracts);
  const verify = createVerifier(context, driver, lease, verifyMs);
  const readExpiring = createExpiryReader({ context, driver, lease });
  const scanClosed = createClosedScanner({ context, driver, lease });
  const keepBaselines = createBaselineKeeper({ context, driver, lease }, chain.networks);
  const reconcile = createReconciler({ context, driver, lease }, isLocal(chain) ? 0 : deepestReorg);
  const rescan = createRescanner(context, driver, lease);
  const scanCoins = createCoinScanner(context, driver, lease, coinScanMs(chain));
  /** Before the time is published: after an outage of more than an hour, nothing else would hold expiry. */
  const readOverdue = async (at: Block, upTo: Date): Promise<void> => {
    const untilMs = performance.now() + overdueTurnMs;
    while ((await readExpiring(at, upTo, host, signal)) && !signal.aborted && performance.now() < untilMs);
  };
  for await (const step of driver.follow(cursor, host, signal)) {
    // Blocks that only follow may be written meanwhile. What a rollback or a halt puts in question is not decided any more.
    if (step.kind === 'idle') await reached.finish();
    else if (step.kind === 'halt' || step.rollbackTo !== null) await reached.stop();
    if (step.kind === 'halt') {
      context.log.error({ caip2, reason: step.reason }, 'a chain is halted until an operator decides');
      await haltChain(context.db, lease, step.reason);
      return;
    }
    if (step.kind === 'blocks') {
      await applyBlocks(context, lease, step, { withReached: !reached.isRunning() });
      const latest = step.blocks.at(-1)!.number;
      if (step.tags.finalized !== null) host.finalize(Math.min(step.tags.finalized, latest));
      if (step.rollbackTo) {
        context.log.warn({ caip2, to: step.rollbackTo.number, latest }, 'a chain was reorganised');
      }
    } else {
      if (step.caughtUpAt !== null) await readOverdue(step.at, step.caughtUpAt);
      if (signal.aborted) return;
      await writeIdle(context.db, lease, step.tags, step.caughtUpAt);
      if (step.caughtUpAt !== null) {
        await scanCoins(step.at, step.caughtUpAt, signal);
        await scanClosed(step.at, signal);
        await keepBaselines(step.at, step.caughtUpAt, signal);
        await reconcile(step.at, host, signal);
      }
      await verify(host, signal);
      await rescan(host, signal);
      await onIdle();
    }
    await reached.start();
  }
};

/** Reads the chain while this process has the lease. */
const follow = async (
  following: Omit<Following, 'reached'>,
  turns: AdvanceTurns,
  signal: AbortSignal,
): Promise<void> => {
  const reached = createReachedAdvance(following.context, following.chain.caip2, { turns, signal });
  try {
    await takeSteps({ ...following, reached }, signal);
  } finally {
    await reached.stop();
  }
};

const startWatcher = (context: Context, chain: WatchedChain, holder: string, turns: AdvanceTurns) => {
  const { caip2, networks } = chain;
  const stopping = new AbortController();
  const measured = Promise.withResolvers<void>();
  const smooth = createHysteresis();

  let publishedFactory: ChainHealth['factory'] = null;
  const publishFactory = async (state: ChainHealth['factory']): Promise<void> => {
    if (state === null || state === publishedFactory) return;
    await writeFactoryState(context.db, caip2, state);
    if (state !== 'present') context.log.warn({ caip2, state }, 'a chain lacks the forwarder factory');
    publishedFactory = state;
  };

  let written: { readonly content: string; readonly atMs: number } | null = null;
  const writeStatus = async (row: ChainRow | null): Promise<void> => {
    const health = chain.driver.health();
    if (health === null) return;
    // Blocks before the first one read are never searched for transfers, so no address may be handed out until then.
    const isRead = row !== null && row.latestNumber !== null;
    if (!isRead && health.status !== 'down') return;
    const { status, reason } = smooth(measureNetwork(networks[0]!, health, row));
    // Excludes the lag, which grows while no block comes.
    const { latestBlock, refusal, unfitTokens, factory } = health;
    const content = JSON.stringify([status, reason, latestBlock, refusal, [...unfitTokens], factory]);
    const nowMs = performance.now();
    if (written?.content === content && nowMs - written.atMs < rewriteMs) return;
    const all = networks.map(network => ({ ...measureNetwork(network, health, row), status, reason }));
    await publishFactory(health.factory);
    await writeNetworkStatus(context.db, all);
    written = { content, atMs: nowMs };
    measured.resolve();
  };
  /** The heartbeat writes later statuses. */
  const writeFirstStatus = async (): Promise<void> => {
    if (written === null) await writeStatus((await readChains(context.db, [caip2]))[0] ?? null);
  };

  /** Renews the lease and writes the status until the signal ends or the lease is lost. */
  const heartbeat = async (lease: Lease, onLost: (reason: LeaseLost) => void, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        const row = await renewLease(context.db, lease, leaseSeconds);
        if (row === null) return onLost(new LeaseLost());
        await writeStatus(row);
      } catch (error) {
        context.log.warn({ caip2, err: error }, 'the state of a chain could not be written');
      }
      await pause(heartbeatMs, undefined, { signal }).catch(() => undefined);
    }
  };

  const readWithLease = async (row: ChainRow): Promise<void> => {
    const lease: Lease = { caip2, fence: row.fence };
    const ended = new AbortController();
    // Another process may have published what it found meanwhile.
    publishedFactory = null;
    // Covers a stop that came before the lease was granted: an event listener would miss it.
    const signal = AbortSignal.any([stopping.signal, ended.signal]);
    const heartbeats = heartbeat(lease, reason => ended.abort(reason), signal);
    try {
      while (!signal.aborted) {
        const [now] = await readChains(context.db, [caip2]);
        if (now && now.rollbackTo !== null) await rollBackAsDecided(context, lease, now.rollbackTo);
        else if (now?.haltReason === null)
          await follow({ context, chain, row: now, onIdle: writeFirstStatus }, turns, signal);
        else await pause(heartbeatMs, undefined, { signal }).catch(() => undefined);
      }
    } finally {
      ended.abort();
      await heartbeats;
      await releaseLease(context.db, lease).catch(() => undefined);
    }
  };

  const run = async (): Promise<void> => {
    let tries = 0;
    while (!stopping.signal.aborted) {
      try {
        const row = await takeLease(context.db, { caip2, holder, seconds: leaseSeconds });
        if (row === null) {
          // Another process reads this chain and writes its status.
          measured.resolve();
        } else {
          await readWithLease(row);
          tries = 0;
        }
      } catch (error) {
        if (!stopping.signal.aborted) noteFailure(context.log, caip2, error);
      }
      const retryMs = backOffMs(++tries, minRetryMs, maxRetryMs, Math.random());
      await pause(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
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

/** Starts a watcher for each chain. Only one process at a time reads a chain. `holder` names this process. */
export const startWatchers = (context: Context, chains: readonly WatchedChain[], holder: string): Watchers => {
  const turns = { running: 0 };
  const watchers = chains.map(chain => startWatcher(context, chain, holder, turns));
  return {
    measured: caip2s =>
      Promise.all(watchers.filter(({ caip2 }) => caip2s.includes(caip2)).map(watcher => watcher.measured)),
    async stop() {
      await Promise.all(watchers.map(watcher => watcher.stop()));
    },
  };
};
