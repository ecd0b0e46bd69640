import type { ChainHead } from '../chains/driver.ts';
import { readHead } from '../chains/evm/readHead.ts';
import type { Log } from '../core/log.ts';
import type { Network } from '../core/registry/networks.ts';
import type { Database } from '../storage/database.ts';
import { type NetworkHealth, writeNetworkStatus } from '../storage/networkStatus.ts';
import { readNow } from '../storage/payments.ts';
import { type Loop, startLoop } from './loop.ts';

const answerTimeoutMs = 2_000;
/** So many equal measurements in a row change a status: one lost answer is not an outage. */
const steady = 2;
const leastLagSeconds = 60;
const lagBlocks = 20;

type Verdict = { status: NetworkHealth; reason: string | null };

/** Hysteresis: the first measurement counts at once, a later change has to be seen `steady` times. */
export const createHysteresis = () => {
  let shown: Verdict | null = null;
  let candidate: NetworkHealth | null = null;
  let seen = 0;
  return (measured: Verdict): Verdict => {
    if (shown === null || measured.status === shown.status) {
      shown = measured;
      candidate = null;
      seen = 0;
      return shown;
    }
    seen = measured.status === candidate ? seen + 1 : 1;
    candidate = measured.status;
    if (seen < steady) return shown;
    shown = measured;
    candidate = null;
    seen = 0;
    return shown;
  };
};

type Hysteresis = ReturnType<typeof createHysteresis>;

export type HeadPollers = Loop & {
  /** Settles when the local chain has been asked once: from then on it can be paid on. Others are not waited for. */
  readonly localMeasured: Promise<unknown>;
};

/** The first URL that answers for the right chain. */
const readFromAny = async (network: Network, signal: AbortSignal): Promise<ChainHead | string> => {
  let reason = 'no node answers';
  for (const url of network.rpcUrls) {
    try {
      const head = await readHead(url, AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]));
      if (head.chainId === network.chainId) return head;
      reason = `the node serves chain ${head.chainId} instead of ${network.chainId}`;
    } catch {
      reason = 'no node answers';
    }
  }
  return reason;
};

const judge = (network: Network, head: ChainHead | string, nowMs: number): Verdict & { lagSeconds: number | null } => {
  if (typeof head === 'string') return { status: 'down', reason: head, lagSeconds: null };
  // A dev chain mines only when there is something to mine; its silence is not lag.
  if (network.backing === 'devchain') return { status: 'operational', reason: null, lagSeconds: 0 };
  const lagSeconds = Math.max(0, Math.round(nowMs / 1000 - head.timestamp));
  const allowed = Math.max(leastLagSeconds, lagBlocks * network.blockTimeSeconds);
  if (lagSeconds <= allowed) return { status: 'operational', reason: null, lagSeconds };
  return { status: 'degraded', reason: `the newest block is ${lagSeconds} s old`, lagSeconds };
};

const groupByChain = (networks: readonly Network[]): Network[][] => {
  const groups = new Map<string, Network[]>();
  for (const network of networks) {
    const key = `${network.caip2} ${network.rpcUrls.join(' ')}`;
    groups.set(key, [...(groups.get(key) ?? []), network]);
  }
  return [...groups.values()];
};

/**
 * Measures every configured network's status, once for all slugs that share a chain. Until blocks are watched for funds,
 * a poll answered by a node that does not lag has by definition found every block processed.
 */
export const startHeadPollers = (options: {
  db: Database;
  networks: readonly Network[];
  intervalMs: number;
  log: Log;
}): HeadPollers => {
  const { db, intervalMs, log } = options;
  const localRounds: Promise<void>[] = [];
  const configured = options.networks.filter(network => network.rpcUrls.length > 0);
  const measure = async (group: Network[], settle: Hysteresis, signal: AbortSignal): Promise<boolean> => {
    const [first] = group as [Network];
    const begunAt = await readNow(db);
    const head = await readFromAny(first, signal);
    if (signal.aborted) return false;
    const { lagSeconds, ...measured } = judge(first, head, begunAt.getTime());
    const verdict = settle(measured);
    const block = typeof head === 'string' ? null : head;
    for (const network of group) {
      await writeNetworkStatus(db, {
        environment: network.environment,
        network: network.slug,
        caip2: network.caip2,
        ...verdict,
        latestBlock: block?.number ?? null,
        lagSeconds,
        // A node that lags has not seen the blocks of this moment, whatever the steadied status still says.
        caughtUpAt: measured.status === 'operational' ? begunAt : null,
      });
    }
    return false;
  };
  const loops = groupByChain(configured).map(group => {
    const settle = createHysteresis();
    const [first] = group as [Network];
    const firstRound = Promise.withResolvers<void>();
    if (first.backing === 'devchain') localRounds.push(firstRound.promise);
    return startLoop({
      name: `head ${first.caip2}`,
      intervalMs,
      log,
      work: signal => measure(group, settle, signal).finally(firstRound.resolve),
    });
  });
  return {
    localMeasured: Promise.all(localRounds),
    async stop() {
      await Promise.all(loops.map(loop => loop.stop()));
    },
  };
};
