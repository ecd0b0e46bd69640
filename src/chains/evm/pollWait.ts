import { setTimeout as pause } from 'node:timers/promises';

/** Waits for a block other than `head`, for a limited time. Returns whether there is one. */
export type Wake = (head: string, signal: AbortSignal) => Promise<boolean>;

/**
 * Waits until the next poll is due. `wake` only shortens the wait. It is called once per head, however often that head
 * is polled, and counts once, so that an unreadable block does not cause a busy loop.
 */
export const createPollWait = (pollMs: number, wake: Wake | undefined, signal: AbortSignal) => {
  let pending: { readonly head: string; readonly woken: Promise<boolean>; isSpent: boolean } | null = null;
  const startWake = (head: string): void => {
    if (wake === undefined || pending?.head === head) return;
    pending = { head, woken: wake(head, signal).catch(() => false), isSpent: false };
  };
  return async (head: string | null): Promise<void> => {
    const over = new AbortController();
    const timer = pause(pollMs, 'timer' as const, { signal: AbortSignal.any([signal, over.signal]) });
    const pausing = timer.catch(() => 'timer' as const);
    if (head !== null) startWake(head);
    const first = pending === null || pending.isSpent ? await pausing : await Promise.race([pausing, pending.woken]);
    if (first === true) pending!.isSpent = true;
    if (first === false) {
      await pausing;
      pending = null;
    }
    over.abort();
  };
};
