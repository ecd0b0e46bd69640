import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AttemptResult, judgeAttempt, retryDelaysMs } from '../../src/core/delivery.ts';
import { type Environment, environments } from '../../src/core/environment.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

/** The schedule of the interface, written a second time on purpose. */
const promised: Record<Environment, number[]> = {
  production: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
  sandbox: [5 * second, 15 * second, 60 * second, 5 * minute, 15 * minute],
};

const failed = (fields: Partial<AttemptResult> = {}): AttemptResult => ({
  delivered: false,
  statusCode: 500,
  error: 'answered 500',
  retryAfterMs: null,
  ...fields,
});
const succeeded: AttemptResult = { delivered: true, statusCode: 204, error: null, retryAfterMs: 60_000 };

const steps = environments.flatMap(environment =>
  promised[environment].map((delayMs, failures) => ({ environment, failures, delayMs })),
);

test('the schedules are those of the interface', () => {
  expect(retryDelaysMs).toEqual(promised);
});

describe('a failure', () => {
  test.each(steps)('number $failures in $environment waits $delayMs ms, a fifth more or less', step => {
    const { environment, failures, delayMs } = step;
    const judged = (random: number) => judgeAttempt(failed(), { environment, failures, random });
    expect(judged(0)).toEqual({ kind: 'retry', delayMs: delayMs * 0.8 });
    expect(judged(0.5)).toEqual({ kind: 'retry', delayMs });
    expect(judged(1 - Number.EPSILON)).toEqual({ kind: 'retry', delayMs: delayMs * 1.2 });
  });

  test('stays within the bounds whatever the chance, and uses all of them', () => {
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.constantFrom(...steps), chance, ({ environment, failures, delayMs }, random) => {
        const verdict = judgeAttempt(failed(), { environment, failures, random });
        if (verdict.kind !== 'retry') throw new Error(verdict.kind);
        expect(Number.isInteger(verdict.delayMs)).toBe(true);
        expect(verdict.delayMs).toBeGreaterThanOrEqual(delayMs * 0.8);
        expect(verdict.delayMs).toBeLessThanOrEqual(delayMs * 1.2);
      }),
    );
  });

  test.each(environments)(
    'past the last delay of %s is parked, with the number of attempts and the last error',
    environment => {
      const failures = promised[environment].length;
      expect(judgeAttempt(failed({ error: 'connection refused' }), { environment, failures, random: 0.5 })).toEqual({
        kind: 'parked',
        reason: `${failures + 1} attempts in a row failed; the last: connection refused`,
        gone: false,
      });
      expect(judgeAttempt(failed(), { environment, failures: failures + 5, random: 0.5 }).kind).toBe('parked');
    },
  );

  test.each([400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 301, 307, null])(
    'is one whatever the status: %s',
    statusCode => {
      const verdict = judgeAttempt(failed({ statusCode }), { environment: 'sandbox', failures: 0, random: 0.5 });
      expect(verdict).toEqual({ kind: 'retry', delayMs: 5_000 });
    },
  );
});

describe('Retry-After', () => {
  const judged = (retryAfterMs: number | null, failures = 0) =>
    judgeAttempt(failed({ statusCode: 503, retryAfterMs }), { environment: 'sandbox', failures, random: 0.5 });
  const waits = (delayMs: number) => ({ kind: 'retry', delayMs });

  test('counts where it is longer than the schedule', () => {
    expect(judged(7_000)).toEqual(waits(7_000));
    expect(judged(3 * hour)).toEqual(waits(3 * hour));
    expect(judged(20_000, 1)).toEqual(waits(20_000));
  });

  test('does not shorten the schedule', () => {
    expect(judged(0)).toEqual(waits(5_000));
    expect(judged(1_000)).toEqual(waits(5_000));
    expect(judged(null)).toEqual(waits(5_000));
  });

  test('that is absurd counts for a day', () => {
    expect(judged(24 * hour + 1)).toEqual(waits(24 * hour));
    expect(judged(999_999_999_000)).toEqual(waits(24 * hour));
  });

  test('does not add an attempt, and means nothing beside a success', () => {
    expect(judged(60_000, promised.sandbox.length).kind).toBe('parked');
    expect(judgeAttempt(succeeded, { environment: 'sandbox', failures: 0, random: 0.5 })).toEqual({
      kind: 'succeeded',
    });
  });
});

describe('410', () => {
  test.each(environments)('ends it at once in %s, however many attempts are left', environment => {
    for (const failures of [0, 3, promised[environment].length]) {
      const result = failed({ statusCode: 410, error: 'answered 410', retryAfterMs: 60_000 });
      expect(judgeAttempt(result, { environment, failures, random: 0.5 })).toEqual({
        kind: 'parked',
        reason: 'answered 410 (gone)',
        gone: true,
      });
    }
  });
});

test('a success is one after any number of failures', () => {
  for (const { environment, failures } of steps) {
    expect(judgeAttempt(succeeded, { environment, failures, random: 0 })).toEqual({ kind: 'succeeded' });
  }
});
