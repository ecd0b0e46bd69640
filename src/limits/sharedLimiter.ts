import type { RateLimit } from '../core/plans.ts';
import type { RateDecision, RateLimiter } from '../core/tokenBucket.ts';

/** Buckets that several processes share. */
export type RemoteBuckets = {
  take(subject: string, rate: RateLimit): Promise<RateDecision>;
  /** The connection gives no answers although it looks open. */
  reconnect(): void;
  close(): void;
};

export type SharedLimiterOptions = {
  readonly remote: Omit<RemoteBuckets, 'close'>;
  /** Counts while the shared buckets cannot be reached. */
  readonly local: RateLimiter;
  readonly nowMs: () => number;
  /** How long a request waits for the shared buckets. */
  readonly budgetMs?: number | undefined;
  /** Called when requests begin to be counted in this process alone, and when they are counted together again. */
  readonly tell: (isShared: boolean, cause: unknown) => void;
};

export type SharedLimiter = RateLimiter & {
  /** Asks the shared buckets again at once: their connection is back. */
  retry(): void;
  isShared(): boolean;
};

const defaultBudgetMs = 50;
const failuresBeforeLocal = 3;
/** Then one request asks the shared buckets again, and the others do not wait for it. */
const localMs = 900;
/** A connection whose other end is gone may look open for a quarter of an hour. */
const triesBeforeReconnecting = 3;

const inTime = <T>(asked: Promise<T>, budgetMs: number): Promise<T> =>
  new Promise((resolve, reject) => {
    // If this process itself is late, the answer is there already, and is read before the next immediate.
    const giveUp = (): void => void setImmediate(() => reject(new Error('no answer in time')));
    const timer = setTimeout(giveUp, budgetMs);
    asked.then(resolve, reject).finally(() => clearTimeout(timer));
  });

/**
 * Asks shared buckets, and those of this process where they fail: a request is never refused, and never waits long,
 * because the server of the buckets is slow or gone. Such a request counts in this process alone, whose buckets start full,
 * so for that time each process allows as much as all together should.
 */
export const createSharedLimiter = (options: SharedLimiterOptions): SharedLimiter => {
  const { remote, local, nowMs, tell, budgetMs = defaultBudgetMs } = options;
  let isShared = true;
  let failures = 0;
  let tries = 0;
  let isTrying = false;
  let localUntilMs = Number.NEGATIVE_INFINITY;

  const fail = (cause: unknown): void => {
    failures += 1;
    if (failures < failuresBeforeLocal) return;
    localUntilMs = nowMs() + localMs;
    if (isShared) tell(false, cause);
    isShared = false;
  };
  const succeed = (): void => {
    failures = 0;
    tries = 0;
    if (!isShared) tell(true, null);
    isShared = true;
  };

  const askTogether = async (subject: string, rate: RateLimit): Promise<RateDecision> => {
    try {
      const decision = await inTime(remote.take(subject, rate), budgetMs);
      succeed();
      return decision;
    } catch (error) {
      fail(error);
      return local.take(subject, rate);
    }
  };

  const tryAgain = async (subject: string, rate: RateLimit): Promise<RateDecision> => {
    isTrying = true;
    try {
      return await askTogether(subject, rate);
    } finally {
      isTrying = false;
      if (!isShared && ++tries % triesBeforeReconnecting === 0) remote.reconnect();
    }
  };

  return {
    take(subject, rate) {
      if (isShared) return askTogether(subject, rate);
      return isTrying || nowMs() < localUntilMs ? local.take(subject, rate) : tryAgain(subject, rate);
    },
    retry() {
      localUntilMs = Number.NEGATIVE_INFINITY;
    },
    isShared: () => isShared,
  };
};
