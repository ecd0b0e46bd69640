import { expect, vi } from 'vitest';

/** The bound only ends a test that has failed. */
const timeout = 50_000;

/** Checks again until it passes, and answers what the check did. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout, interval: 10 });

/** Asks again until the answer is as wanted. Rarer, because most questions are calls that count against a limit. */
export const until = async <T>(
  ask: () => T | Promise<T>,
  isWanted: (answer: T) => boolean,
  { patienceMs = timeout }: { readonly patienceMs?: number } = {},
): Promise<T> => {
  const check = async (): Promise<T> => {
    const answer = await ask();
    expect(isWanted(answer), JSON.stringify(answer)).toBe(true);
    return answer;
  };
  return vi.waitFor(check, { timeout: patienceMs, interval: 100 });
};
