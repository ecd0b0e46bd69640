import type { Environment } from '../core/environment.ts';
import type { Target } from '../storage/deliveries.ts';

/** Who answers fast, who is not known yet, who is slow and who fails. */
export const lanes = ['fast', 'new', 'slow', 'failing'] as const;
export type Lane = (typeof lanes)[number];

/** First attempts and retries: neither waits for the other. */
export type Kind = 'first' | 'retries';
export const kinds: readonly Kind[] = ['first', 'retries'];

const firstLimit = 4;
const longestLimit = 64;
const slowLimit = 4;
export const slowMs = 1_000;
/** So many failures in a row, and it is only probed: one of each kind at a time, with pauses between. */
const failuresToPause = 3;
const firstPauseMs = 1_000;
/** Whoever has had so many has not just been started anew. */
const fewPauses = 3;
const longestPauseMs: Readonly<Record<Environment, number>> = { production: 60_000, sandbox: 10_000 };

export type Sendable = Target & { readonly failures: number; readonly refusal: string | null };

type Queue<D> = {
  /** Claimed ahead. */
  waiting: { readonly delivery: D; readonly claimedMs: number }[];
  flying: number;
  /** Whether the database may have more of it. */
  hasMore: boolean;
};

export type TargetState<D> = {
  readonly key: string;
  readonly target: Target;
  readonly queues: Record<Kind, Queue<D>>;
  /** The oldest first. */
  readonly flights: Set<Flight<D>>;
  /** Waiting and flying. */
  held: number;
  lane: Lane;
  limit: number;
  /** In a row. */
  failures: number;
  pauses: number;
  pausedMs: number;
  pausedUntilMs: number;
  /** When somebody last asked for it. */
  resumedMs: number;
  /** Of its last failure: when that took off, and whether it took long. */
  failedMs: number;
  hung: boolean;
  /** How many answers that it wants nothing more are not written down yet: until then the database would still give more. */
  closings: number;
  /** Counts news of it, so that those which come while it is being asked for are not lost. */
  heard: number;
};

/** An attempt in the air. */
export type Flight<D> = {
  readonly delivery: D;
  readonly kind: Kind;
  readonly atMs: number;
  readonly state: TargetState<D>;
};

export const kindOf = ({ failures }: { failures: number }): Kind => (failures === 0 ? 'first' : 'retries');
export const isFailing = ({ failures }: { failures: number }): boolean => failures >= failuresToPause;

/** Whether it waits for its turn among those that hang or have failed for long, which none does that was asked for since. */
export const isPaced = (state: TargetState<unknown>): boolean =>
  isFailing(state) && (state.hung || state.pauses >= fewPauses) && !(state.resumedMs > state.failedMs);

export const limitOf = (state: TargetState<unknown>, kind: Kind): number => {
  if (isFailing(state)) return 1;
  const limit = state.lane === 'slow' ? Math.min(state.limit, slowLimit) : state.limit;
  return kind === 'first' ? limit : Math.ceil(limit / 4);
};

/**
 * Whoever answers fast has three times as many claimed before they can fly, and is asked for when two thirds of those
 * fly: a query costs as much as what it brings if that is few, and nothing flies while an answer is waited for with none
 * left.
 */
export const wantedOf = (state: TargetState<unknown>, kind: Kind): number => {
  const { waiting, flying, hasMore } = state.queues[kind];
  if (!hasMore) return 0;
  const limit = limitOf(state, kind);
  const free = limit - flying - waiting.length;
  if (state.lane !== 'fast') return Math.max(0, free);
  return waiting.length <= limit ? free + 3 * limit : 0;
};

export const hasMore = ({ queues }: TargetState<unknown>): boolean => kinds.some(kind => queues[kind].hasMore);

/** `wasFailing`: it has failed for long, as somebody before this process has found. */
export const newState = <D>(key: string, target: Target, wasFailing: boolean): TargetState<D> => {
  const queue = (): Queue<D> => ({ waiting: [], flying: 0, hasMore: false });
  return {
    key,
    target,
    queues: { first: queue(), retries: queue() },
    flights: new Set(),
    held: 0,
    lane: wasFailing ? 'failing' : 'new',
    limit: firstLimit,
    failures: wasFailing ? failuresToPause : 0,
    pauses: wasFailing ? fewPauses : 0,
    pausedMs: Number.NEGATIVE_INFINITY,
    pausedUntilMs: Number.NEGATIVE_INFINITY,
    resumedMs: Number.NEGATIVE_INFINITY,
    failedMs: Number.NEGATIVE_INFINITY,
    hung: false,
    closings: 0,
    heard: 0,
  };
};

/** Whether an attempt has been in the air for long. */
export const hangs = ({ flights }: TargetState<unknown>, nowMs: number): boolean => {
  for (const { atMs } of flights) return nowMs - atMs >= slowMs;
  return false;
};

/** An attempt failed; answers whether a pause begins with it. */
export const fail = <D>(state: TargetState<D>, flight: Flight<D>, nowMs: number): boolean => {
  state.failures += 1;
  state.limit = Math.max(1, state.limit >> 1);
  state.failedMs = flight.atMs;
  state.hung = nowMs - flight.atMs >= slowMs;
  // Those that were in the air when it was paused say nothing new.
  if (!isFailing(state) || flight.atMs <= state.pausedMs) return false;
  const pauseMs = firstPauseMs * 2 ** Math.min(state.pauses, 10);
  state.pauses += 1;
  state.pausedMs = nowMs;
  state.pausedUntilMs = nowMs + Math.min(pauseMs, longestPauseMs[state.target.environment]);
  return true;
};

export const succeed = (state: TargetState<unknown>): void => {
  state.failures = 0;
  state.pauses = 0;
  state.limit = Math.min(state.limit + 1, longestLimit);
};
