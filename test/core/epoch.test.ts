import { expect, test } from 'vitest';
import {
  firstIndexOf,
  formatEpoch,
  indexesPerEpoch,
  marksPerNumber,
  parseEpoch,
  timeBefore,
} from '../../src/core/epoch.ts';

test('indexes of an epoch end where those of the next mark begin', () => {
  const epoch = { number: 59_123_456, mark: 789 };
  expect(firstIndexOf(epoch)).toBe(59_123_456n * 2n ** 32n + 789n * 2n ** 20n);
  expect(firstIndexOf(epoch) + BigInt(indexesPerEpoch)).toBe(firstIndexOf({ ...epoch, mark: 790 }));
  expect(firstIndexOf({ ...epoch, mark: marksPerNumber - 1 }) + BigInt(indexesPerEpoch)).toBe(
    firstIndexOf({ number: epoch.number + 1, mark: 0 }),
  );
});

test.each(['1.0', '59123456.789', '2147483647.4095'])('%s is an epoch', text => {
  expect(formatEpoch(parseEpoch(text)!)).toBe(text);
});

test.each([
  '',
  '1',
  '0.5',
  '2147483648.0',
  '99999999999.1',
  '5.4096',
  '5.12345',
  '-1.2',
  '1.2.3',
  'x1.2',
  '1.2x',
  '1.x',
])('%s is no epoch', text => expect(parseEpoch(text)).toBeNull());

test('an epoch was taken within the hour before the time of its number', () => {
  expect(timeBefore({ number: 24 * 3_600, mark: 0 }).toISOString()).toBe('2025-01-01T23:00:00.000Z');
});
