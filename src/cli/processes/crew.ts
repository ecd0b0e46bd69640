import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import type { Family } from '../../metrics/exposition.ts';
import { ConfigError } from '../config.ts';
import { type Child, launchChild } from './launchChild.ts';
import type { Begin, Part, Post, ToChild, ToSupervisor } from './messages.ts';

const firstDelayMs = 100;
const longestDelayMs = 10_000;
// A process that ran for this long did not end of the cause for which the delays grow.
const steadyAfterMs = 60_000;
/** Requests and deliveries that are under way have ended by then, once clients were sent elsewhere. */
const longestStopMs = 30_000;
const longestMeasureMs = 1_000;

/** What is done for a process that runs. */
export type Care = {
  /** Its messages, apart from those about its start and its metrics. */
  heard(message: ToSupervisor): void;
  ready(): void;
  ended(): void;
};

export type CrewParts = {
  readonly parts: readonly Part[];
  readonly begin: (part: Part) => Begin;
  /** Called for each process, also for one that replaces another. */
  readonly care: (part: Part, post: Post<ToChild>) => Care;
  /** Writes lines of their logs. */
  readonly write: (lines: string) => void;
  /** How long a process that stops sends its clients elsewhere. */
  readonly drainMs: number;
  readonly log: Log;
};

/** A process and those that replace it. */
type Seat = {
  readonly name: string;
  child: Child;
  isReady: boolean;
  /** Once it is told to stop, nothing replaces it. */
  readonly stopping: AbortController;
  readonly measured: Map<number, (families: readonly Family[]) => void>;
};

/** Processes that are replaced when they end, until they are told to stop. */
export const createCrew = ({ parts, begin, care, write, drainMs, log }: CrewParts) => {
  const seats: Seat[] = [];
  const broken = Promise.withResolvers<ConfigError>();
  let measures = 0;

  const launch = (part: Part, seat?: Seat): Seat => {
    const late: { care: Care | null } = { care: null };
    const child = launchChild(begin(part), write, message => {
      if (message.kind === 'measured') own.measured.get(message.id)?.(message.families);
      else late.care?.heard(message);
    });
    const own: Seat = seat ?? {
      name: part.name,
      child,
      isReady: false,
      stopping: new AbortController(),
      measured: new Map(),
    };
    Object.assign(own, { child, isReady: false });
    const cared = care(part, child.post);
    late.care = cared;
    child.ready.then(
      () => {
        own.isReady = true;
        cared.ready();
        log.info({ name: part.name, pid: child.pid }, 'a process is ready');
      },
      () => {},
    );
    void child.exited.then(() => {
      own.isReady = false;
      cared.ended();
    });
    return own;
  };

  const relaunch = (part: Part, seat: Seat): boolean => {
    try {
      launch(part, seat);
      return true;
    } catch (error) {
      // The machine may have no memory for it now.
      log.error({ name: part.name, err: error }, 'a process could not be started');
      return false;
    }
  };

  const supervise = async (part: Part, seat: Seat): Promise<void> => {
    const { signal } = seat.stopping;
    let isLastTry = false;
    for (let delayMs = firstDelayMs; ; ) {
      const since = performance.now();
      const { child } = seat;
      const end = await child.exited;
      if (signal.aborted) return;
      const { code, signal: killedBy, stderr, failure } = end;
      const told = { name: part.name, pid: child.pid, code, signal: killedBy, stderr, failure: failure?.message };
      // Twice, because files may have been in the middle of a change.
      if (failure?.problems && isLastTry) {
        log.error(told, 'a process cannot be replaced, so all are stopped');
        return broken.resolve(new ConfigError(failure.problems));
      }
      isLastTry = failure !== null && failure.problems !== null;
      log.error(told, 'a process ended unexpectedly and will be replaced');
      if (performance.now() - since > steadyAfterMs) delayMs = firstDelayMs;
      do {
        await pause(delayMs, undefined, { signal, ref: false }).catch(() => {});
        delayMs = Math.min(delayMs * 2, longestDelayMs);
        if (signal.aborted) return;
      } while (!relaunch(part, seat));
    }
  };

  const stopOne = async ({ name, child }: Seat): Promise<void> => {
    const timer = setTimeout(() => {
      log.error({ name, pid: child.pid }, 'a process did not stop in time and was killed');
      child.kill();
    }, drainMs + longestStopMs);
    child.post({ kind: 'stop' });
    await child.exited;
    clearTimeout(timer);
  };

  const measure = async ({ name, child, isReady, measured }: Seat): Promise<readonly Family[] | null> => {
    if (!isReady) return null;
    measures += 1;
    const id = measures;
    const { promise, resolve } = Promise.withResolvers<readonly Family[] | null>();
    const timer = setTimeout(resolve, longestMeasureMs, null);
    measured.set(id, resolve);
    child.post({ kind: 'measure', id });
    const families = await promise;
    clearTimeout(timer);
    measured.delete(id);
    if (families === null) log.warn({ name }, 'a process did not give its metrics in time');
    return families;
  };

  return {
    /** Resolves once all are ready. If one cannot start, all are ended. */
    async start(): Promise<void> {
      try {
        for (const part of parts) seats.push(launch(part));
        await Promise.all(seats.map(({ child }) => child.ready));
        for (const [at, part] of parts.entries()) void supervise(part, seats[at]!);
      } catch (error) {
        for (const { child } of seats) child.kill();
        await Promise.all(seats.map(({ child }) => child.exited));
        throw error;
      }
    },
    tell(message: ToChild): void {
      for (const { child } of seats) child.post(message);
    },
    /** What each process measures; null for one that does not answer. */
    measure: (): Promise<{ name: string; families: readonly Family[] | null }[]> =>
      Promise.all(seats.map(async seat => ({ name: seat.name, families: await measure(seat) }))),
    /** Resolves when a process cannot be replaced until the operator changes something. */
    broken: broken.promise,
    /** Those whose part is chosen. The others are replaced as before. */
    async stop(isChosen: (part: Part) => boolean): Promise<void> {
      const chosen = seats.filter((_, at) => isChosen(parts[at]!));
      for (const { stopping } of chosen) stopping.abort();
      await Promise.all(chosen.map(stopOne));
    },
  };
};
