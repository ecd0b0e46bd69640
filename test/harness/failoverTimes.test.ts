import { expect, test } from 'vitest';
import { endOfOutage } from '../campaigns/failover/faults.ts';
import { findPrograms } from '../campaigns/failover/programs.ts';

test('an outage ends with the first accepted creation after the last gap', () => {
  expect(endOfOutage([900, 1_200, 1_500, 6_000, 6_200], 1_000)).toBe(6_000);
  expect(endOfOutage([900, 4_000, 4_100, 9_000, 9_100], 1_000)).toBe(9_000);
});

test('an outage that began before counts from the moment on, and without a gap there is none', () => {
  expect(endOfOutage([900, 9_500, 9_600], 9_000)).toBe(9_500);
  expect(endOfOutage([900, 5_000, 5_100, 6_000], 5_050)).toBe(5_050);
  expect(endOfOutage([900, 1_500, 2_500, 3_500], 1_000)).toBe(1_000);
  expect(endOfOutage([], 1_000)).toBe(1_000);
});

test('programs that are not installed are not found', () => {
  expect(findPrograms({ PATRONI_ROOT: '/nowhere', PATH: '' }, () => false)).toBeNull();
});
