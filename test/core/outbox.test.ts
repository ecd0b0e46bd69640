import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judgeFailure } from '../../src/core/outbox.ts';

const dayMs = 24 * 3_600_000;
const failure = { reason: 'answered 500', isPermanent: false };

test('what fails for good is parked at once', () => {
  const verdict = judgeFailure({ ...failure, isPermanent: true }, { failures: 0, ageMs: 0, random: 0 });
  expect(verdict).toEqual({ kind: 'parked', reason: 'answered 500' });
});

test('everything else is tried for seven days, at most every few hours, and then parked', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), random => {
      let [ageMs, failures] = [0, 0];
      for (;;) {
        const verdict = judgeFailure(failure, { failures, ageMs, random });
        if (verdict.kind === 'parked') {
          expect(verdict.reason).toBe('failed for 7 days; the last: answered 500');
          break;
        }
        expect(verdict.delayMs).toBeLessThanOrEqual(4 * 3_600_000);
        ageMs += verdict.delayMs;
        failures += 1;
        expect(failures).toBeLessThan(100);
      }
      expect(ageMs).toBeGreaterThan(6.5 * dayMs);
      expect(ageMs).toBeLessThanOrEqual(7 * dayMs + 4 * 3_600_000);
    }),
  );
});
