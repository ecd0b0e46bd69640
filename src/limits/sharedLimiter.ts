import { errorWith } from '../core/errorCode.ts';
import type { RateLimit } from '../core/plans.ts';
import type { RateDecision, RateLimiter } from '../core/tokenBucket.ts';
import type { LocalLimiter } from './localLimiter.ts';

/** Buckets that several processes share. */
export type RemoteBuckets = {
  /** Fails if the buckets cannot be reached. An answer that comes late is not used. */
  take(subject: string, rate: RateLimit): Promise<RateDecision>;
  /** No answer comes, although none of the calls fails. */
  reconnect(): void;
  close(): void;
};

export type SharedLimiterOptions = {
  readonly remote: RemoteBuckets;
  /** Counts while the shared buckets cannot be reached. */
  readonly local: LocalLimiter;
  readonly nowMs: () => number;
  /** How long a request waits for the shared buckets. */
  readonly budgetMs?: number | undefined;
  /** Called for each request that is counted in this process alone. */
  readonly countedAlone: () => void;
  /** Called when requests are counted together (again), when they no longer are, and after each vain attempt to return. */
  readonly tell: (isShared: boolean, cause: unknown) => void;
};

export type SharedLimiter = RateLimiter & { isShared(): boolean; close(): void };

const defaultBudgetMs = 50;
const failuresBeforeAlone = 3;
/** The end of the time that a request waits. */
const graceShare = 0.3;

/** While requests are counted alone, this process asks by itself whether it can return. Otherwise only if nobody else asks. */
const probeEveryMs = { alone: 250, shared: 5_000 } as const;
/** A connection opens in less. */
const startMs = 20;
const shortestProbeMs = 250;
const longestProbeMs = 2_000;
const probe = { subject: 'probe', rate: { perMinute: 60_000, burst: 0 } } as const;

const isLate = Symbol('late');

/**
 * The time has two parts and then one more turn of the event loop. If this process itself was busy for all of the first
 * part, it may only now send what it asks; the second part lets the answer come, and the turn lets it be read.
 */
const inTime = <T>(asked: Promise<T>, budgetMs: number): Promise<T> =>
  new Promise((resolve, reject) => {
    const giveUp = (): void => reject(Object.assign(errorWith('ETIMEDOUT', 'no answer in time'), { [isLate]: true }));
    let timer = setTimeout(
      () => {
        timer = setTimeout(() => setImmediate(giveUp), budgetMs * graceShare);
      },
      budgetMs * (1 - graceShare),
    );
    asked.then(resolve, reject).finally(() => clearTimeout(timer));
  });

/**
 * Asks shared buckets, and those of this process where they fail: a request is never refused, and never waits long,
 * because the server of the buckets is slow or gone. After three failures in a row, requests no longer ask and are counted in
 * this process alone, until a probe is answered. The buckets of this process hold what the shared ones held last.
 */
export const createSharedLimiter = (options: SharedLimiterOptions): SharedLimiter => {
  const { remote, local, nowMs, countedAlone, tell, budgetMs = defaultBudgetMs } = options;
  const firstProbeMs = Math.max(shortestProbeMs, budgetMs);
  let isShared = false;
  let isClosed = false;
  let isLooking = false;
  let failures = 0;
  let failedMs = Number.NEGATIVE_INFINITY;
  let probeMs = firstProbeMs;
  let timer: NodeJS.Timeout | undefined;

  const schedule = (delayMs: number): void => {
    clearTimeout(timer);
    if (!isClosed && !isLooking) timer = setTimeout(() => void look(), delayMs).unref();
  };

  const fail = (askedMs: number, cause: unknown): void => {
    // Requests that wait side by side fail together. That is one failure, not many in a row.
    if (isClosed || !isShared || askedMs < failedMs) return;
    failedMs = nowMs();
    failures += 1;
    if (failures < failuresBeforeAlone) return;
    isShared = false;
    tell(false, cause);
    schedule(probeEveryMs.alone);
  };

  const countAlone: RateLimiter['take'] = (subject, rate) => {
    countedAlone();
    return local.take(subject, rate);
  };

  const countTogether = async (subject: string, rate: RateLimit): Promise<RateDecision> => {
    const askedMs = nowMs();
    try {
      const decision = await inTime(remote.take(subject, rate), budgetMs);
      failures = 0;
      local.remember(subject, decision.tokens);
      return decision;
    } catch (cause) {
      fail(askedMs, cause);
      return countAlone(subject, rate);
    }
  };

  const stayAlone = (cause: unknown): void => {
    tell(false, cause);
    if (!(cause instanceof Error && isLate in cause)) return;
    probeMs = Math.min(longestProbeMs, probeMs * 2);
    try {
      remote.reconnect();
    } catch {
      // The next probe fails, too, and its reason is told.
    }
  };

  /** Only this ends the time in which requests are counted alone: not an answer that was asked for before. */
  const look = async (): Promise<void> => {
    const askedMs = nowMs();
    const wasShared = isShared;
    isLooking = true;
    try {
      await inTime(remote.take(probe.subject, probe.rate), probeMs);
      [failures, probeMs] = [0, firstProbeMs];
      if (!wasShared && !isClosed) {
        isShared = true;
        tell(true, null);
      }
    } catch (cause) {
      if (wasShared) fail(askedMs, cause);
      else if (!isClosed) stayAlone(cause);
    }
    isLooking = false;
    schedule(isShared && failures === 0 ? probeEveryMs.shared : probeEveryMs.alone);
  };

  schedule(startMs);
  return {
    take: (subject, rate) => (isShared ? countTogether(subject, rate) : countAlone(subject, rate)),
    isShared: () => isShared,
    close() {
      isClosed = true;
      clearTimeout(timer);
      remote.close();
    },
  };
};
