import { describe, expect, test } from 'vitest';
import { judgeEndpoint } from '../../src/core/endpointFailures.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const now = new Date('2026-03-10T12:00:00Z');
const ago = (ms: number): Date => new Date(now.getTime() - ms);

const working = { failingSince: null, failedAt: null };
const success = { succeeded: true, gone: false, lastError: null };
const failure = { succeeded: false, gone: false, lastError: 'answered 500' };
const gone = { succeeded: false, gone: true, lastError: 'answered 410' };
const fiveDays = 'Every attempt of the last five days failed; the last one: answered 500.';

describe('a success', () => {
  test('changes nothing while the endpoint works', () => {
    expect(judgeEndpoint(working, success, now)).toBeNull();
  });

  test('ends the failure, however long it lasted', () => {
    const failing = { failingSince: ago(6 * dayMs), failedAt: ago(1) };
    expect(judgeEndpoint(failing, success, now)).toEqual({ ...working, disabledReason: null });
  });
});

describe('a failure', () => {
  test('begins the count', () => {
    expect(judgeEndpoint(working, failure, now)).toEqual({ failingSince: now, failedAt: now, disabledReason: null });
  });

  test('is written once per hour', () => {
    const failingSince = ago(dayMs);
    expect(judgeEndpoint({ failingSince, failedAt: ago(hourMs - 1) }, failure, now)).toBeNull();
    const next = { failingSince, failedAt: now, disabledReason: null };
    expect(judgeEndpoint({ failingSince, failedAt: ago(hourMs) }, failure, now)).toEqual(next);
  });

  test.each([
    ['a millisecond before five days, the endpoint stays enabled', 5 * dayMs - 1, null],
    ['after five days, it is disabled', 5 * dayMs, fiveDays],
  ])('%s', (_, ms, disabledReason) => {
    const failingSince = ago(ms);
    const verdict = judgeEndpoint({ failingSince, failedAt: ago(hourMs) }, failure, now);
    expect(verdict).toEqual({ failingSince, failedAt: now, disabledReason });
  });

  test('disables even if the last failure was written within the hour', () => {
    const verdict = judgeEndpoint({ failingSince: ago(5 * dayMs), failedAt: ago(1) }, failure, now);
    expect(verdict?.disabledReason).toBe(fiveDays);
  });

  test('begins the count again after two days without an attempt', () => {
    const failingSince = ago(6 * dayMs);
    const again = { failingSince: now, failedAt: now, disabledReason: null };
    expect(judgeEndpoint({ failingSince, failedAt: ago(2 * dayMs) }, failure, now)).toEqual(again);
    expect(judgeEndpoint({ failingSince, failedAt: ago(2 * dayMs - 1) }, failure, now)?.disabledReason).toBe(fiveDays);
  });
});

test('410 disables at once, even beside a success', () => {
  const disabledReason = 'The receiver answered 410 (gone).';
  expect(judgeEndpoint(working, gone, now)).toEqual({ failingSince: now, failedAt: now, disabledReason });
  expect(judgeEndpoint(working, { ...gone, succeeded: true }, now)).toEqual({ ...working, disabledReason });
});
