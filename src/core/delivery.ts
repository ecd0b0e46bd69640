import type { Environment } from './environment.ts';

export const deliveryStatuses = ['scheduled', 'succeeded', 'parked'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The result of one attempt, as far as the retry schedule needs it. */
export type AttemptResult = {
  readonly delivered: boolean;
  readonly statusCode: number | null;
  /** A short phrase; null exactly if delivered. */
  readonly error: string | null;
  /** The receiver's `Retry-After`. */
  readonly retryAfterMs: number | null;
};

/** What happens next. `gone`: the receiver wants no more deliveries. */
export type AttemptVerdict =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'parked'; readonly reason: string; readonly gone: boolean };

const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000];

/** The delay before each retry. */
export const retryDelaysMs: Readonly<Record<Environment, readonly number[]>> = {
  production: [
    5 * secondMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs, 10 * hourMs, 14 * hourMs, 20 * hourMs, 24 * hourMs,
  ], // biome-ignore format: one list
  sandbox: [5 * secondMs, 15 * secondMs, 60 * secondMs, 5 * minuteMs, 15 * minuteMs],
};

const jitter = 0.2;
const maxRetryAfterMs = 24 * hourMs;

/**
 * `failures` counts earlier failures. `random` is in [0, 1); the jitter keeps receivers that failed together from being
 * called together. A longer `Retry-After` replaces the delay, up to a day.
 */
export const judgeAttempt = (
  result: AttemptResult,
  { environment, failures, random }: { environment: Environment; failures: number; random: number },
): AttemptVerdict => {
  if (result.delivered) return { kind: 'succeeded' };
  if (result.statusCode === 410) return { kind: 'parked', reason: 'answered 410 (gone)', gone: true };
  const delayMs = retryDelaysMs[environment][failures];
  if (delayMs === undefined) {
    return {
      kind: 'parked',
      reason: `${failures + 1} attempts in a row failed; the last: ${result.error}`,
      gone: false,
    };
  }
  const jitteredMs = delayMs * (1 - jitter + 2 * jitter * random);
  const requestedMs = Math.min(result.retryAfterMs ?? 0, maxRetryAfterMs);
  return { kind: 'retry', delayMs: Math.round(Math.max(jitteredMs, requestedMs)) };
};
