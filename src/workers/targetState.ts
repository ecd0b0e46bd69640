import type { Environment } from '../core/environment.ts';
import type { Target } from '../storage/webhooks/deliveries.ts';

/** Targets that answer fast, new ones, slow ones and failing ones. */
export const lanes = ['fast', 'new', 'slow', 'failing'] as const;
export type Lane = (typeof lanes)[number];

/** First attempts and retries do not wait for each other. */
export type Kind = 'first' | 'retries';
export const kinds: readonly Kind[] = ['first', 'retries'];

const firstLimit = 4;
const maxLimit = 64;
const slowLimit = 4;
export const slowMs = 1_000;
/** After this many failures in a row a target is only probed: one attempt of each kind at a time, with pauses. */
const failuresToPause = 3;
const firstPauseMs = 1_000;
/** After this many pauses, it is not just restarting. */
const fewPauses = 3;
const maxPauseMs: Readonly<Record<Environment, number>> = { production: 60_000, sandbox: 10_000 };

export type Sendable = Target & { readonly failures: number; readonly refusal: string | null };

type Queue<D> = {
  /** Claimed but not started. */
  waiting: { readonly delivery: D; readonly claimedMs: number }[];
  active: number;
  /** Whether the database may have more deliveries of this kind. */
  hasMore: boolean;
};

export type TargetState<D> = {
  readonly key: string;
  readonly target: Target;
  readonly queues: Record<Kind, Queue<D>>;
  /** Oldest first. */
  readonly activeAttempts: Set<ActiveAttempt<D>>;
  /** Waiting and active. */
  held: number;
  lane: Lane;
  limit: number;
  /** Failures in a row. */
  failures: number;
  pauses: number;
  pausedMs: number;
  pausedUntilMs: number;
  /** When a person last requested a delivery. */
  resumedMs: number;
  /** When the last failed attempt started, and whether it was slow. */
  failedMs: number;
  isLastFailureSlow: boolean;
  /** 410 answers that are not recorded yet. Until then the database would still hand out deliveries. */
  pendingCloses: number;
  /** Counts notifications, so that one that arrives during a claim is not lost. */
  notifications: number;
};

/** A running attempt. */
export type ActiveAttempt<D> = {
  readonly delivery: D;
  readonly kind: Kind;
  readonly atMs: number;
  readonly state: TargetState<D>;
};

export const kindOf = ({ failures }: { failures: number }): Kind => (failures === 0 ? 'first' : 'retries');
export const isFailing = ({ failures }: { failures: number }): boolean => failures >= failuresToPause;

/**
 * Whether the target takes turns with other targets that hang or have failed for long. Not if a person has requested a
 * delivery since its last failure.
 */
export const isPaced = (state: TargetState<unknown>): boolean =>
  isFailing(state) && (state.isLastFailureSlow || state.pauses >= fewPauses) && !(state.resumedMs > state.failedMs);

export const limitOf = (state: TargetState<unknown>, kind: Kind): number => {
  if (isFailing(state)) return 1;
  const limit = state.lane === 'slow' ? Math.min(state.limit, slowLimit) : state.limit;
  return kind === 'first' ? limit : Math.ceil(limit / 4);
};

/**
 * A fast target claims up to three times its limit ahead, and claims again when the waiting deliveries fall to the
 * limit. A small claim costs as much as a large one, and a target without waiting deliveries sends nothing until its
 * next claim.
 */
export const wantedOf = (state: TargetState<unknown>, kind: Kind): number => {
  const { waiting, active, hasMore } = state.queues[kind];
  if (!hasMore) return 0;
  const limit = limitOf(state, kind);
  const free = limit - active - waiting.length;
  if (state.lane !== 'fast') return Math.max(0, free);
  return waiting.length <= limit ? free + 3 * limit : 0;
};

export const hasMore = ({ queues }: TargetState<unknown>): boolean => kinds.some(kind => queues[kind].hasMore);

/** `wasFailing`: the database says that the target has failed for long. */
export const newState = <D>(key: string, target: Target, wasFailing: boolean): TargetState<D> => {
  const queue = (): Queue<D> => ({ waiting: [], active: 0, hasMore: false });
  return {
    key,
    target,
    queues: { first: queue(), retries: queue() },
    activeAttempts: new Set(),
    held: 0,
    lane: wasFailing ? 'failing' : 'new',
    limit: firstLimit,
    failures: wasFailing ? failuresToPause : 0,
    pauses: wasFailing ? fewPauses : 0,
    pausedMs: Number.NEGATIVE_INFINITY,
    pausedUntilMs: Number.NEGATIVE_INFINITY,
    resumedMs: Number.NEGATIVE_INFINITY,
    failedMs: Number.NEGATIVE_INFINITY,
    isLastFailureSlow: false,
    pendingCloses: 0,
    notifications: 0,
  };
};

/** Whether the oldest attempt has been running for long. */
export const isHanging = ({ activeAttempts }: TargetState<unknown>, nowMs: number): boolean => {
  for (const { atMs } of activeAttempts) return nowMs - atMs >= slowMs;
  return false;
};

/** Counts a failed attempt. Returns whether a pause begins. */
export const fail = <D>(state: TargetState<D>, attempt: ActiveAttempt<D>, nowMs: number): boolean => {
  state.failures += 1;
  state.limit = Math.max(1, state.limit >> 1);
  state.failedMs = attempt.atMs;
  state.isLastFailureSlow = nowMs - attempt.atMs >= slowMs;
  // Attempts that were running when the pause began say nothing new.
  if (!isFailing(state) || attempt.atMs <= state.pausedMs) return false;
  const pauseMs = firstPauseMs * 2 ** Math.min(state.pauses, 10);
  state.pauses += 1;
  state.pausedMs = nowMs;
  state.pausedUntilMs = nowMs + Math.min(pauseMs, maxPauseMs[state.target.environment]);
  return true;
};

export const succeed = (state: TargetState<unknown>): void => {
  state.failures = 0;
  state.pauses = 0;
  state.limit = Math.min(state.limit + 1, maxLimit);
};
