import type { Target, Wanted } from '../storage/webhooks/deliveries.ts';
import {
  type ActiveAttempt,
  fail,
  hasMore,
  isFailing,
  isHanging,
  isPaced,
  type Kind,
  kindOf,
  kinds,
  type Lane,
  lanes,
  limitOf,
  newState,
  type Sendable,
  slowMs,
  succeed,
  type TargetState,
  wantedOf,
} from './targetState.ts';

/**
 * Limits how much is sent to each target, so that a slow or dead target delays no other. Each target has its own limit,
 * and the targets of a lane share its capacity: fast, new, slow and failing ones. A target with a long-running attempt
 * moves to the slow lane, so the other lanes never fill with hanging attempts.
 */
const laneCapacity: Readonly<Record<Lane, number>> = { fast: 2_048, new: 256, slow: 256, failing: 256 };

/**
 * Deliveries held in all lanes together, including hanging ones that moved to the slow lane: each may use a socket. New
 * targets that hang cannot reach this limit within the timeout of one attempt.
 */
const maxHeld = 6_000;

/**
 * How many targets that hang or have failed for long are probed between two ticks. If hundreds of them started
 * together, they would also time out together, and healthy targets would wait until all results are recorded.
 */
const probesPerTick = 1;

/** A delivery claimed this long ago is not started: the attempt could outlive its claim. */
const maxWaitMs = 20_000;
/** Above this number, idle targets are forgotten. */
const keptTargets = 10_000;

/** The targets of a claim, with their notification counts at that time. */
export type ClaimRequest<D> = {
  readonly wants: readonly Wanted[];
  readonly atMs: number;
  readonly states: readonly TargetState<D>[];
  readonly notifications: readonly number[];
};

export const createTargets = <D extends Sendable>() => {
  const states = new Map<string, TargetState<D>>();
  /** Targets that may have due deliveries and may be claimed, in turn. */
  const readyTargets = new Set<TargetState<D>>();
  const activeTargets = new Set<TargetState<D>>();
  const pausedTargets = new Set<TargetState<D>>();
  const laneUse: Record<Lane, number> = { fast: 0, new: 0, slow: 0, failing: 0 };
  let [returned, probesLeft]: [D[], number] = [[], probesPerTick];

  const stateOf = (target: Target, wasFailing = false): TargetState<D> => {
    const key = `${target.accountId} ${target.environment} ${target.target}`;
    const existing = states.get(key);
    if (existing) return existing;
    const state = newState<D>(key, target, wasFailing);
    states.set(key, state);
    return state;
  };

  const hold = (state: TargetState<D>, more: number): void => {
    state.held += more;
    laneUse[state.lane] += more;
  };

  /** Gives waiting deliveries back: another process can send them, and here their claim would expire. */
  const giveBack = (state: TargetState<D>): void => {
    for (const kind of kinds) {
      const queue = state.queues[kind];
      if (queue.waiting.length === 0) continue;
      for (const { delivery } of queue.waiting) returned.push(delivery);
      hold(state, -queue.waiting.length);
      queue.waiting = [];
      queue.hasMore = true;
      readyTargets.add(state);
    }
  };

  const moveTo = (state: TargetState<D>, lane: Lane): void => {
    laneUse[state.lane] -= state.held;
    laneUse[lane] += state.held;
    state.lane = lane;
    if (lane === 'slow' || lane === 'failing') giveBack(state);
  };

  const isPaused = (state: TargetState<D>, nowMs: number): boolean =>
    pausedTargets.has(state) && nowMs < state.pausedUntilMs;

  const startAttempts = (state: TargetState<D>, nowMs: number): ActiveAttempt<D>[] => {
    const started: ActiveAttempt<D>[] = [];
    if (state.pendingCloses > 0) giveBack(state);
    for (const kind of kinds) {
      const queue = state.queues[kind];
      while (queue.waiting.length > 0 && queue.active < limitOf(state, kind) && !isPaused(state, nowMs)) {
        if (nowMs - queue.waiting[0]!.claimedMs > maxWaitMs) {
          giveBack(state);
          break;
        }
        const attempt = { delivery: queue.waiting.shift()!.delivery, kind, atMs: nowMs, state };
        queue.active += 1;
        state.activeAttempts.add(attempt);
        started.push(attempt);
      }
    }
    if (state.activeAttempts.size > 0) activeTargets.add(state);
    if (state.lane === 'slow' || state.lane === 'failing') giveBack(state);
    return started;
  };

  const judge = (attempt: ActiveAttempt<D>, isHealthy: boolean, nowMs: number): void => {
    const { state, atMs } = attempt;
    if (isHealthy) {
      succeed(state);
      pausedTargets.delete(state);
    } else if (fail(state, attempt, nowMs)) pausedTargets.add(state);
    if (isFailing(state)) moveTo(state, 'failing');
    else moveTo(state, nowMs - atMs >= slowMs || isHanging(state, nowMs) ? 'slow' : 'fast');
  };

  const forgetIdle = (): void => {
    for (const state of states.values()) {
      if (states.size <= keptTargets) return;
      const isExpected = hasMore(state) || pausedTargets.has(state) || state.pendingCloses > 0;
      if (state.held === 0 && !isExpected) states.delete(state.key);
    }
  };

  return {
    /**
     * The target may have due deliveries. `wasFailing` counts only for unknown targets: after a restart all dead
     * targets would be new, and healthy ones would wait behind them.
     */
    notify(target: Target, wasFailing = false): void {
      const state = stateOf(target, wasFailing);
      state.notifications += 1;
      for (const kind of kinds) state.queues[kind].hasMore = true;
      readyTargets.add(state);
    },

    /**
     * Ends the target's pause. It is probed at once, ahead of other failing targets; a failure begins the next pause.
     */
    resume(target: Target, nowMs: number): void {
      const state = stateOf(target);
      pausedTargets.delete(state);
      state.resumedMs = nowMs;
      if (state.lane === 'failing') moveTo(state, 'new');
    },

    /** The next claim of at most `most` deliveries. `claimSucceeded` or `claimFailed` must follow. */
    nextClaim(nowMs: number, most: number): ClaimRequest<D> {
      const [wants, requested]: [Wanted[], TargetState<D>[]] = [[], []];
      const promised: Record<Lane, number> = { fast: 0, new: 0, slow: 0, failing: 0 };
      let left = Math.min(most, Math.max(0, maxHeld - lanes.reduce((sum, lane) => sum + laneUse[lane], 0)));
      for (const state of readyTargets) {
        const { lane, target } = state;
        const free = Math.min(left, laneCapacity[lane] - laneUse[lane] - promised[lane]);
        if (left === 0) break;
        const isBlocked = isPaused(state, nowMs) || state.pendingCloses > 0;
        if (!isBlocked && (free <= 0 || (probesLeft === 0 && isPaced(state)))) continue;
        readyTargets.delete(state);
        if (isBlocked) continue;
        const retries = Math.min(wantedOf(state, 'retries'), Math.ceil(free / 4));
        const first = Math.min(wantedOf(state, 'first'), free - retries);
        if (first + retries === 0) continue;
        if (isPaced(state)) probesLeft -= 1;
        left -= first + retries;
        promised[lane] += first + retries;
        wants.push({ ...target, first, retries });
        requested.push(state);
      }
      return {
        wants,
        atMs: nowMs,
        states: requested,
        notifications: requested.map(({ notifications }) => notifications),
      };
    },

    /** Returns the attempts to start now. If fewer were claimed than requested, there are no more. */
    claimSucceeded(
      { wants, states: requested, notifications, atMs }: ClaimRequest<D>,
      claimed: readonly D[],
      nowMs: number,
    ): ActiveAttempt<D>[] {
      const got = new Map<string, Record<Kind, number>>(requested.map(({ key }) => [key, { first: 0, retries: 0 }]));
      for (const delivery of claimed) {
        const state = stateOf(delivery);
        const kind = kindOf(delivery);
        got.get(state.key)![kind] += 1;
        if (delivery.refusal !== null) continue;
        state.queues[kind].waiting.push({ delivery, claimedMs: atMs });
        hold(state, 1);
      }
      return requested.flatMap((state, i) => {
        for (const kind of kinds) {
          const wanted = wants[i]![kind];
          if (wanted === 0) continue;
          state.queues[kind].hasMore = got.get(state.key)![kind] === wanted || state.notifications !== notifications[i];
        }
        if (hasMore(state)) readyTargets.add(state);
        return startAttempts(state, nowMs);
      });
    },

    /** The claim failed and must be made again. */
    claimFailed({ states: requested }: ClaimRequest<D>): void {
      for (const state of requested) readyTargets.add(state);
    },

    /** Returns the attempts to start now. `isHealthy` is null if the attempt says nothing about the receiver. */
    attemptEnded(attempt: ActiveAttempt<D>, isHealthy: boolean | null, nowMs: number): ActiveAttempt<D>[] {
      const { state, kind } = attempt;
      state.queues[kind].active -= 1;
      hold(state, -1);
      state.activeAttempts.delete(attempt);
      if (state.activeAttempts.size === 0) activeTargets.delete(state);
      if (isHealthy !== null) judge(attempt, isHealthy, nowMs);
      if (hasMore(state)) readyTargets.add(state);
      return startAttempts(state, nowMs);
    },

    /** The endpoint answered 410: gives back its waiting deliveries and claims no more until that is recorded. */
    close(target: Target): void {
      const state = stateOf(target);
      state.pendingCloses += 1;
      giveBack(state);
    },

    /** The 410 is recorded, or recording has failed. From now on the database decides which deliveries are due. */
    closeRecorded(target: Target): void {
      const state = stateOf(target);
      state.pendingCloses -= 1;
      if (state.pendingCloses === 0 && hasMore(state)) readyTargets.add(state);
    },

    /** The deliveries to give back, each returned once. */
    takeReturned(): D[] {
      const taken = returned;
      returned = [];
      return taken;
    },

    /** Call regularly: moves hanging targets to the slow lane, and makes targets ready again whose pause is over. */
    tick(nowMs: number): void {
      probesLeft = probesPerTick;
      for (const state of activeTargets) {
        if ((state.lane === 'fast' || state.lane === 'new') && isHanging(state, nowMs)) moveTo(state, 'slow');
      }
      for (const state of pausedTargets) {
        if (nowMs < state.pausedUntilMs) continue;
        pausedTargets.delete(state);
        if (hasMore(state)) readyTargets.add(state);
      }
      forgetIdle();
    },

    /** Number of targets in memory. */
    size: () => states.size,
  };
};
