import { expect, test } from 'vitest';
import { createIsoTime } from '../../src/core/isoTime.ts';

test('each time is written as it is, asked for again or not', () => {
  const isoTime = createIsoTime();
  const asked = [0, 0, 1, 1_700_000_000_123, 1_700_000_000_123, 0];
  expect(asked.map(isoTime)).toEqual([
    '1970-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.001Z',
    '2023-11-14T22:13:20.123Z',
    '2023-11-14T22:13:20.123Z',
    '1970-01-01T00:00:00.000Z',
  ]);
});
