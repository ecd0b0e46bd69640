import { createCachedReading } from './cachedReading.ts';

const freshMs = 1_000;
const longestAnswerMs = 2_000;

/** Checks whether the database responds. A query that takes too long counts as a failure. */
export const createReadiness = (
  ask: () => Promise<unknown>,
  nowMs: () => number,
  answerTimeoutMs = longestAnswerMs,
): (() => Promise<boolean>) => {
  const read = createCachedReading(() => ask().then(() => true), { nowMs, freshMs, answerTimeoutMs });
  return async () => (await read()) === true;
};
