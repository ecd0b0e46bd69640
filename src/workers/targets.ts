import type { Target, Wanted } from '../storage/deliveries.ts';
import {
  type Flight,
  fail,
  hangs,
  hasMore,
  isFailing,
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
 * How much is sent to whom at a time, so that one who is slow or dead delays nobody. Each target has a limit of its own,
 * and all of a lane share its room: those who answer fast, those who are not known yet, those who are slow and those who
 * fail. Whoever has an attempt in the air for long changes to the slow lane with it, so the others are never full of them.
 */
const room: Readonly<Record<Lane, number>> = { fast: 2_048, new: 256, slow: 256, failing: 256 };

/**
 * Of all lanes, with those that hang and have left theirs to others: every one of them is a socket. More than new targets
 * that hang can come to by themselves in the time that an attempt may take.
 */
const mostHeld = 6_000;

/**
 * Those that hang or have failed for long are probed evenly: so many of them between two ticks. Where hundreds hang, all
 * that took off together would end together, time after time, and whoever is well would wait for all of that to be written
 * down and sent anew.
 */
const probedATick = 1;

/** What was claimed this long ago does not take off any more: it could outlive its claim. */
const longestWaitMs = 20_000;
/** Past so many, those of whom nothing is expected are forgotten. */
const keptTargets = 10_000;

/** Whom to ask for, and what had been heard of each by then. */
export type Asking<D> = {
  readonly wants: readonly Wanted[];
  readonly atMs: number;
  readonly states: readonly TargetState<D>[];
  readonly heard: readonly number[];
};

export const createTargets = <D extends Sendable>() => {
  const states = new Map<string, TargetState<D>>();
  /** Those that may have something and may be asked for; in turn. */
  const ready = new Set<TargetState<D>>();
  const flying = new Set<TargetState<D>>();
  const paused = new Set<TargetState<D>>();
  const used: Record<Lane, number> = { fast: 0, new: 0, slow: 0, failing: 0 };
  let [returned, toProbe]: [D[], number] = [[], probedATick];

  const stateOf = (target: Target, wasFailing = false): TargetState<D> => {
    const key = `${target.accountId} ${target.environment} ${target.target}`;
    const known = states.get(key);
    if (known) return known;
    const state = newState<D>(key, target, wasFailing);
    states.set(key, state);
    return state;
  };

  const hold = (state: TargetState<D>, more: number): void => {
    state.held += more;
    used[state.lane] += more;
  };

  /** What waits is given back: others may have it, and here its claim would run out. */
  const giveBack = (state: TargetState<D>): void => {
    for (const kind of kinds) {
      const queue = state.queues[kind];
      if (queue.waiting.length === 0) continue;
      for (const { delivery } of queue.waiting) returned.push(delivery);
      hold(state, -queue.waiting.length);
      queue.waiting = [];
      queue.hasMore = true;
      ready.add(state);
    }
  };

  const moveTo = (state: TargetState<D>, lane: Lane): void => {
    used[state.lane] -= state.held;
    used[lane] += state.held;
    state.lane = lane;
    if (lane === 'slow' || lane === 'failing') giveBack(state);
  };

  const isPaused = (state: TargetState<D>, nowMs: number): boolean => paused.has(state) && nowMs < state.pausedUntilMs;

  const takeOff = (state: TargetState<D>, nowMs: number): Flight<D>[] => {
    const flights: Flight<D>[] = [];
    if (state.closings > 0) giveBack(state);
    for (const kind of kinds) {
      const queue = state.queues[kind];
      while (queue.waiting.length > 0 && queue.flying < limitOf(state, kind) && !isPaused(state, nowMs)) {
        if (nowMs - queue.waiting[0]!.claimedMs > longestWaitMs) {
          giveBack(state);
          break;
        }
        const flight = { delivery: queue.waiting.shift()!.delivery, kind, atMs: nowMs, state };
        queue.flying += 1;
        state.flights.add(flight);
        flights.push(flight);
      }
    }
    if (state.flights.size > 0) flying.add(state);
    if (state.lane === 'slow' || state.lane === 'failing') giveBack(state);
    return flights;
  };

  const judge = (flight: Flight<D>, isWell: boolean, nowMs: number): void => {
    const { state, atMs } = flight;
    if (isWell) {
      succeed(state);
      paused.delete(state);
    } else if (fail(state, flight, nowMs)) paused.add(state);
    if (isFailing(state)) moveTo(state, 'failing');
    else moveTo(state, nowMs - atMs >= slowMs || hangs(state, nowMs) ? 'slow' : 'fast');
  };

  const forgetIdle = (): void => {
    for (const state of states.values()) {
      if (states.size <= keptTargets) return;
      const isExpected = hasMore(state) || paused.has(state) || state.closings > 0;
      if (state.held === 0 && !isExpected) states.delete(state.key);
    }
  };

  return {
    /**
     * News: it may have something due. `wasFailing` counts where nothing else is known of it: after a start the dead would
     * all be new, and those who are well would wait behind them.
     */
    hear(target: Target, wasFailing = false): void {
      const state = stateOf(target, wasFailing);
      state.heard += 1;
      for (const kind of kinds) state.queues[kind].hasMore = true;
      ready.add(state);
    },

    /**
     * Ends its pause, if it has one: it is probed at once, ahead of the others that fail, and a failure begins the next
     * pause.
     */
    resume(target: Target, nowMs: number): void {
      const state = stateOf(target);
      paused.delete(state);
      state.resumedMs = nowMs;
      if (state.lane === 'failing') moveTo(state, 'new');
    },

    /** Whom to ask for how many now, `most` in all. What comes of it is to be told by `asked` or `unasked`. */
    wanted(nowMs: number, most: number): Asking<D> {
      const [wants, asked]: [Wanted[], TargetState<D>[]] = [[], []];
      const promised: Record<Lane, number> = { fast: 0, new: 0, slow: 0, failing: 0 };
      let left = Math.min(most, Math.max(0, mostHeld - lanes.reduce((sum, lane) => sum + used[lane], 0)));
      for (const state of ready) {
        const { lane, target } = state;
        const free = Math.min(left, room[lane] - used[lane] - promised[lane]);
        if (left === 0) break;
        const rests = isPaused(state, nowMs) || state.closings > 0;
        if (!rests && (free <= 0 || (toProbe === 0 && isPaced(state)))) continue;
        ready.delete(state);
        if (rests) continue;
        const retries = Math.min(wantedOf(state, 'retries'), Math.ceil(free / 4));
        const first = Math.min(wantedOf(state, 'first'), free - retries);
        if (first + retries === 0) continue;
        if (isPaced(state)) toProbe -= 1;
        left -= first + retries;
        promised[lane] += first + retries;
        wants.push({ ...target, first, retries });
        asked.push(state);
      }
      return { wants, atMs: nowMs, states: asked, heard: asked.map(({ heard }) => heard) };
    },

    /** What came of asking; answers those that are to fly now. Fewer than were asked for: there are no more. */
    asked({ wants, states: asked, heard, atMs }: Asking<D>, claimed: readonly D[], nowMs: number): Flight<D>[] {
      const got = new Map<string, Record<Kind, number>>(asked.map(({ key }) => [key, { first: 0, retries: 0 }]));
      for (const delivery of claimed) {
        const state = stateOf(delivery);
        const kind = kindOf(delivery);
        got.get(state.key)![kind] += 1;
        if (delivery.refusal !== null) continue;
        state.queues[kind].waiting.push({ delivery, claimedMs: atMs });
        hold(state, 1);
      }
      return asked.flatMap((state, i) => {
        for (const kind of kinds) {
          const wanted = wants[i]![kind];
          if (wanted === 0) continue;
          state.queues[kind].hasMore = got.get(state.key)![kind] === wanted || state.heard !== heard[i];
        }
        if (hasMore(state)) ready.add(state);
        return takeOff(state, nowMs);
      });
    },

    /** Asking failed; it is to be done again. */
    unasked({ states: asked }: Asking<D>): void {
      for (const state of asked) ready.add(state);
    },

    /** An attempt is over; answers those that are to fly now. `isWell` is null where it says nothing of the receiver. */
    landed(flight: Flight<D>, isWell: boolean | null, nowMs: number): Flight<D>[] {
      const { state, kind } = flight;
      state.queues[kind].flying -= 1;
      hold(state, -1);
      state.flights.delete(flight);
      if (state.flights.size === 0) flying.delete(state);
      if (isWell !== null) judge(flight, isWell, nowMs);
      if (hasMore(state)) ready.add(state);
      return takeOff(state, nowMs);
    },

    /** It wants nothing more: what waits for it is given back, and nothing is asked for until that is written down. */
    close(target: Target): void {
      const state = stateOf(target);
      state.closings += 1;
      giveBack(state);
    },

    /** That is written down, or could not be: the database says what is left to do. */
    closed(target: Target): void {
      const state = stateOf(target);
      state.closings -= 1;
      if (state.closings === 0 && hasMore(state)) ready.add(state);
    },

    /** Claims that are to be given back, each named once. */
    takeReturned(): D[] {
      const taken = returned;
      returned = [];
      return taken;
    },

    /** To be called every so often: whoever hangs makes room for others, and whoever fails or has paused is asked for again. */
    tick(nowMs: number): void {
      toProbe = probedATick;
      for (const state of flying) {
        if ((state.lane === 'fast' || state.lane === 'new') && hangs(state, nowMs)) moveTo(state, 'slow');
      }
      for (const state of paused) {
        if (nowMs < state.pausedUntilMs) continue;
        paused.delete(state);
        if (hasMore(state)) ready.add(state);
      }
      forgetIdle();
    },

    /** How many are known. */
    size: () => states.size,
  };
};
