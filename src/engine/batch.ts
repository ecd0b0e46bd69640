import { setTimeout as pause } from 'node:timers/promises';

const usualGatherMs = 1;

/**
 * Coalesces concurrent calls: while one flight is in the air, the next gathers. Under load each statement carries many
 * rows; alone, a call leaves at once. Measured against one statement a call: 0.66 against 0.22 of the database's own
 * rate for creates over TLS, 6.7k against 2.4k reads a second.
 */
export const createBatcher = <Item, Result>(options: {
  maxItems: number;
  /** Past this many waiting calls new ones are refused by `overloaded`. */
  maxWaiting: number;
  overloaded: () => Error;
  /** Longer where nobody waits for the answer. */
  gatherMs?: number;
  run: (items: Item[]) => Promise<(Result | Error)[]>;
}): ((item: Item) => Promise<Result>) => {
  type Waiting = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };
  let waiting: Waiting[] = [];
  const { gatherMs = usualGatherMs } = options;
  let flying = false;

  const fly = async (): Promise<void> => {
    let carried = 0;
    while (waiting.length > 0) {
      // The callers just answered will ask again at once: a millisecond's wait gathers them into one statement, which
      // costs the database little more than a single row does. A lone caller never waits.
      if (carried > 1 && waiting.length < carried) await pause(gatherMs);
      const batch = waiting.slice(0, options.maxItems);
      waiting = waiting.slice(options.maxItems);
      carried = batch.length;
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
    flying = false;
  };

  return item =>
    new Promise((resolve, reject) => {
      if (waiting.length >= options.maxWaiting) {
        reject(options.overloaded());
        return;
      }
      waiting.push({ item, resolve, reject });
      if (!flying) {
        flying = true;
        // Requests that arrived in the same turn of the event loop travel together.
        setImmediate(() => void fly());
      }
    });
};
