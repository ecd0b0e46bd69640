import { useSyncExternalStore } from 'react';
import { base } from './pageLocation.ts';

/** Whether Florin answers. After a missing answer, it is probed until it answers. Then waiting work goes on. */

const firstPauseMs = 1_000;
const longestPauseMs = 10_000;

let isLost = false;
let isProbing = false;
const waiting: (() => void)[] = [];
const watchers = new Set<() => void>();

const set = (next: boolean): void => {
  if (isLost === next) return;
  isLost = next;
  if (!isLost) for (const goOn of waiting.splice(0)) goOn();
  for (const notify of watchers) notify();
};

/** Whether this is a status that a proxy returns if the server is down. */
export const isGatewayFault = (status: number): boolean => status >= 502 && status <= 504;

/** Requests the page itself, which needs no session and does not extend one. */
const isAnswered = async (): Promise<boolean> => {
  try {
    return !isGatewayFault((await fetch(base, { method: 'HEAD', cache: 'no-store' })).status);
  } catch {
    return false;
  }
};

const probe = async (): Promise<void> => {
  isProbing = true;
  for (let pauseMs = firstPauseMs; isLost; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    await new Promise(resolve => setTimeout(resolve, pauseMs));
    if (isLost && (await isAnswered())) set(false);
  }
  isProbing = false;
};

export const noteAnswer = (): void => set(false);

export const noteNoAnswer = (): void => {
  set(true);
  if (!isProbing) void probe();
};

const untilFound = (): Promise<void> =>
  isLost ? new Promise(resolve => void waiting.push(resolve)) : Promise.resolve();

let isFirstFile = true;

/**
 * Loads a file of the app once Florin answers. Browsers remember a failed import until the page is reloaded, so a file is
 * not requested during an outage. The first file follows the page itself, which has just been answered.
 */
export const untilLoaded = async <T>(load: () => Promise<T>): Promise<T> => {
  while (!isFirstFile && !(await isAnswered())) {
    noteNoAnswer();
    await untilFound();
  }
  isFirstFile = false;
  return load();
};

const watch = (notify: () => void): (() => void) => {
  watchers.add(notify);
  return () => watchers.delete(notify);
};

export const useIsConnectionLost = (): boolean => useSyncExternalStore(watch, () => isLost);
