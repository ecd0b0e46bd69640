import { expect, test } from 'vitest';
import { axisTicks } from '../../web/dashboard/kit/axisTicks.ts';

const texts = (largest: number, isCount = false): string =>
  axisTicks(largest, isCount)
    .map(({ text }) => text)
    .join(' ');

test.each([
  [0.25, '0.3 0.2 0.1 0'],
  [0.01, '0.01 0.005 0'],
  [0.5, '0.6 0.4 0.2 0'],
  [1, '1 0.5 0'],
  [0.00000003, '0.00000003 0.00000002 0.00000001 0'],
  [25, '30 20 10 0'],
  [4.1, '6 4 2 0'],
  [9_999, '10K 5K 0'],
  [12_500, '15K 10K 5K 0'],
  [123_456_789, '150M 100M 50M 0'],
])('an axis up to %s shows %s', (largest, expected) => {
  expect(texts(largest)).toBe(expected);
});

test('an axis of counts has whole numbers only', () => {
  for (const largest of [0, 1, 2, 3, 5, 7, 12, 99]) {
    expect(
      axisTicks(largest, true).every(({ value }) => Number.isInteger(value)),
      String(largest),
    ).toBe(true);
  }
  expect(texts(1, true)).toBe('1 0');
});

const size = { '': 1, K: 1e3, M: 1e6, B: 1e9, T: 1e12 } as const;
const read = (text: string): number => {
  const [, digits, unit] = /^([\d.,]+)([KMBT]?)$/.exec(text)!;
  return Number(digits!.replaceAll(',', '')) * size[unit as keyof typeof size];
};

test('every label says its value exactly, and the axis holds the largest value in a few steps', () => {
  for (let at = 0; at < 300; at++) {
    const largest = 10 ** (-9 + (at / 300) * 21);
    const ticks = axisTicks(largest, false);
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(5);
    expect(ticks[0]!.value).toBeGreaterThanOrEqual(largest * (1 - 1e-9));
    for (const { value, text } of ticks) expect(Math.abs(read(text) - value), text).toBeLessThanOrEqual(value * 1e-9);
  }
});
