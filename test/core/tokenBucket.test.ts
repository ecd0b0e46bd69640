import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rateLimitOf } from '../../src/core/plans.ts';
import { type Bucket, fullBucket, takeToken } from '../../src/core/tokenBucket.ts';

const rate = { perMinute: 60, burst: 10 };
const start = Date.UTC(2026, 0, 31, 12);

const drain = (bucket: Bucket, times: number, atMs = start): void => {
  for (let i = 0; i < times; i++) takeToken(bucket, rate, atMs);
};

describe('a full bucket', () => {
  test('holds a minute and the burst: exactly that many are taken at once', () => {
    const bucket = fullBucket(rate, start);
    const allowed = Array.from({ length: 75 }, () => takeToken(bucket, rate, start).allowed);
    expect(allowed.indexOf(false)).toBe(70);
    expect(allowed.slice(70).every(each => !each)).toBe(true);
  });

  test('counts Remaining down from the limit to 0, then spends the burst at 0', () => {
    const bucket = fullBucket(rate, start);
    const decisions = Array.from({ length: 70 }, () => takeToken(bucket, rate, start));
    expect(decisions[0]).toMatchObject({ limit: 60, remaining: 59, allowed: true });
    expect(decisions.map(each => each.remaining)).toEqual([
      ...Array.from({ length: 60 }, (_, i) => 59 - i),
      ...Array(10).fill(0),
    ]);
  });

  test('resets as soon as the one token taken is back', () => {
    expect(takeToken(fullBucket(rate, start), rate, start).resetSeconds).toBe(start / 1000 + 1);
  });
});

describe('refill', () => {
  test('is a sixtieth of the limit a second', () => {
    const bucket = fullBucket(rate, start);
    drain(bucket, 70);
    expect(takeToken(bucket, rate, start + 999).allowed).toBe(false);
    expect(takeToken(bucket, rate, start + 1_000).allowed).toBe(true);
    expect(takeToken(bucket, rate, start + 1_000).allowed).toBe(false);
  });

  test('stops at the capacity', () => {
    const bucket = fullBucket(rate, start);
    drain(bucket, 5);
    const later = start + 86_400_000;
    const allowed = Array.from({ length: 71 }, () => takeToken(bucket, rate, later).allowed);
    expect(allowed.lastIndexOf(true)).toBe(69);
  });

  test('gives nothing for a clock that went back', () => {
    const bucket = fullBucket(rate, start);
    drain(bucket, 70);
    expect(takeToken(bucket, rate, start - 60_000).allowed).toBe(false);
  });
});

describe('a refused request', () => {
  test('takes nothing, and is told the whole seconds until one is allowed', () => {
    const bucket = fullBucket(rate, start);
    drain(bucket, 70);
    for (let i = 0; i < 10; i++) expect(takeToken(bucket, rate, start)).toMatchObject({ retryAfterSeconds: 1 });
    expect(takeToken(bucket, rate, start + 1_000)).toMatchObject({ allowed: true, retryAfterSeconds: 0 });
  });

  test('is not told to wait longer than it must', () => {
    const slow = { perMinute: 6, burst: 0 };
    for (const [tokens, seconds] of [
      [0, 10],
      [0.5, 5],
      [0.79, 3],
      [0.99, 1],
    ] as const) {
      expect(takeToken({ tokens, updatedMs: start }, slow, start).retryAfterSeconds).toBe(seconds);
    }
  });

  test('that waits as long as it was told is allowed', () => {
    const rates = fc.record({
      perMinute: fc.integer({ min: 1, max: 10_000 }),
      burst: fc.integer({ min: 0, max: 500 }),
    });
    fc.assert(
      fc.property(rates, fc.integer({ min: 0, max: 120_000 }), (limits, aheadMs) => {
        const bucket = { tokens: 0, updatedMs: start };
        const refused = takeToken(bucket, limits, start + (aheadMs % 50));
        fc.pre(!refused.allowed);
        const waited = start + (aheadMs % 50) + refused.retryAfterSeconds * 1000;
        expect(takeToken(bucket, limits, waited).allowed).toBe(true);
      }),
    );
  });
});

describe('always', () => {
  const limits = fc.record({
    perMinute: fc.integer({ min: 1, max: 6_000 }),
    burst: fc.integer({ min: 0, max: 1_000 }),
  });
  const pauses = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 200 });

  test('nobody is refused while Remaining was above 0', () => {
    fc.assert(
      fc.property(limits, pauses, (each, waits) => {
        const bucket = fullBucket(each, start);
        let now = start;
        let remaining = each.perMinute;
        for (const wait of waits) {
          now += wait;
          const decision = takeToken(bucket, each, now);
          if (remaining > 0) expect(decision.allowed).toBe(true);
          remaining = decision.remaining;
        }
      }),
    );
  });

  test('at the reset Remaining is at its limit again', () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 300 }), (each, taken) => {
        const bucket = fullBucket(each, start);
        const decisions = Array.from({ length: taken }, () => takeToken(bucket, each, start));
        const { resetSeconds } = decisions.at(-1)!;
        expect(Number.isInteger(resetSeconds)).toBe(true);
        // Reading the bucket takes a token.
        expect(takeToken(bucket, each, resetSeconds * 1000).remaining).toBe(each.perMinute - 1);
      }),
    );
  });

  test('over any time no more is allowed than the capacity and the refill', () => {
    fc.assert(
      fc.property(limits, pauses, (each, waits) => {
        const bucket = fullBucket(each, start);
        let now = start;
        let allowed = 0;
        for (const wait of waits) {
          now += wait;
          if (takeToken(bucket, each, now).allowed) allowed++;
        }
        const most = each.perMinute + each.burst + ((now - start) * each.perMinute) / 60_000;
        // Many small refills may differ from one large refill in the last bits.
        expect(allowed).toBeLessThanOrEqual(most + 1e-6);
      }),
    );
  });
});

test.each([
  ['sandbox', 'production', 60, 10],
  ['starter', 'production', 120, 20],
  ['growth', 'production', 300, 50],
  ['enterprise', 'production', 6_000, 1_000],
  ['starter', 'sandbox', 60, 10],
  ['growth', 'sandbox', 60, 10],
  ['enterprise', 'sandbox', 6_000, 1_000],
] as const)('the plan %s has in %s %i a minute and a burst of %i', (plan, environment, perMinute, burst) => {
  expect(rateLimitOf({ plan, rateLimit: null, burst: null }, environment)).toEqual({ perMinute, burst });
});

test("an Enterprise account's own figures hold in both environments", () => {
  const account = { plan: 'enterprise', rateLimit: 9, burst: 0 } as const;
  for (const environment of ['production', 'sandbox'] as const) {
    expect(rateLimitOf(account, environment)).toEqual({ perMinute: 9, burst: 0 });
  }
});
