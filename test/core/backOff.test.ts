import { expect, test } from 'vitest';
import { backOffMs } from '../../src/core/backOff.ts';

test('the pause doubles up to the longest', () => {
  const pauses = [1, 2, 3, 4, 5, 1_000_000].map(failures => backOffMs(failures, 100, 1_000, 1));
  expect(pauses).toEqual([100, 200, 400, 800, 1_000, 1_000]);
});

test('chance takes up to half of it away', () => {
  expect([0, 0.5, 1].map(random => backOffMs(2, 100, 1_000, random))).toEqual([100, 150, 200]);
});
