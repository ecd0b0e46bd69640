import { setTimeout as pause } from 'node:timers/promises';
import type { Listener } from '../http/edge/listener.ts';

/**
 * Sends clients elsewhere before a process stops. In the first half of the time it serves as before, so that proxies notice
 * that `/readyz` answers 503. In the second half each answer ends its connection, and open pages go to another process. What
 * is idle at the end had no request for that long, so closing it loses none.
 */
export const drain = async (
  seconds: number,
  listeners: readonly Listener[],
  closePages: () => Promise<void>,
): Promise<void> => {
  if (seconds === 0) return;
  const halfMs = seconds * 500;
  await pause(halfMs);
  for (const listener of listeners) listener.drain();
  await closePages();
  await pause(halfMs);
};
