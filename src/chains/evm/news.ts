import { setTimeout as pause } from 'node:timers/promises';

/** Waits until there is another block than this one, for a while, and says whether there is. */
export type Wake = (head: string, signal: AbortSignal) => Promise<boolean>;

/**
 * Waits until it is time to look again. `wake` only makes it sooner: it is asked once for a head, however often that is
 * polled meanwhile, and its word counts once, so that a block which cannot be read does not keep everybody busy.
 */
export const createNews = (pollMs: number, wake: Wake | undefined, signal: AbortSignal) => {
  let asked: { readonly head: string; readonly woken: Promise<boolean>; isSpent: boolean } | null = null;
  const ask = (head: string): void => {
    if (wake === undefined || asked?.head === head) return;
    asked = { head, woken: wake(head, signal).catch(() => false), isSpent: false };
  };
  return async (head: string | null): Promise<void> => {
    const over = new AbortController();
    const timer = pause(pollMs, 'timer' as const, { signal: AbortSignal.any([signal, over.signal]) });
    const pausing = timer.catch(() => 'timer' as const);
    if (head !== null) ask(head);
    const first = asked === null || asked.isSpent ? await pausing : await Promise.race([pausing, asked.woken]);
    if (first === true) asked!.isSpent = true;
    if (first === false) {
      await pausing;
      asked = null;
    }
    over.abort();
  };
};
