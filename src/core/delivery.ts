import type { Environment } from './environment.ts';

/** What became of one attempt, as far as the schedule is concerned. */
export type AttemptResult = {
  readonly delivered: boolean;
  readonly statusCode: number | null;
  /** A short sentence; null exactly when delivered. */
  readonly error: string | null;
  /** What the receiver asked for. */
  readonly retryAfterMs: number | null;
};

/** What follows from it. `gone`: the receiver wants nothing more from here. */
export type AttemptVerdict =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'parked'; readonly reason: string; readonly gone: boolean };

const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000];

/** How long after each failure the next attempt follows. */
export const retryDelaysMs: Readonly<Record<Environment, readonly number[]>> = {
  production: [
    5 * secondMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs, 10 * hourMs, 14 * hourMs, 20 * hourMs, 24 * hourMs,
  ], // biome-ignore format: one list
  sandbox: [5 * secondMs, 15 * secondMs, 60 * secondMs, 5 * minuteMs, 15 * minuteMs],
};

const jitter = 0.2;
const longestWaitMs = 24 * hourMs;

/**
 * `failures` were before this attempt. `random` is from 0 up to 1: receivers that fell together are not to be asked
 * together. A receiver's own wish counts where it is the longer one, up to a day.
 */
export const judgeAttempt = (
  result: AttemptResult,
  { environment, failures, random }: { environment: Environment; failures: number; random: number },
): AttemptVerdict => {
  if (result.delivered) return { kind: 'succeeded' };
  if (result.statusCode === 410) return { kind: 'parked', reason: 'answered 410 (gone)', gone: true };
  const delayMs = retryDelaysMs[environment][failures];
  if (delayMs === undefined) {
    return { kind: 'parked', reason: `all ${failures + 1} attempts failed; the last: ${result.error}`, gone: false };
  }
  const scatteredMs = delayMs * (1 - jitter + 2 * jitter * random);
  const wishedMs = Math.min(result.retryAfterMs ?? 0, longestWaitMs);
  return { kind: 'retry', delayMs: Math.round(Math.max(scatteredMs, wishedMs)) };
};
