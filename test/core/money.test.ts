import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAmount, parseAmount } from '../../src/core/money.ts';

describe('parseAmount', () => {
  test.each([
    ['12', 6, 12_000_000n],
    ['12.5', 6, 12_500_000n],
    ['0.000001', 6, 1n],
    ['1', 0, 1n],
    ['1.000000000000000001', 18, 1_000_000_000_000_000_001n],
    [`1${'0'.repeat(30)}`, 18, 10n ** 48n],
    [`1${'0'.repeat(30)}.${'0'.repeat(18)}`, 18, 10n ** 48n],
    [`${'9'.repeat(30)}.${'9'.repeat(18)}`, 18, 10n ** 48n - 1n],
  ])('%s with %i decimals is %d base units', (text, decimals, units) => {
    expect(parseAmount(text, decimals)).toEqual({ ok: true, units });
  });

  test.each([
    '', ' ', '.', '1.', '.1', '+1', '-1', '-0', '1e3', '1E3', ' 1', '1 ', '1\n', '\n1', '1,5', '1,000', '1_0', '01', '00',
    '00.1', '0x1', '1n', '1.2.3', 'NaN', 'Infinity', 'one', '٣', '１', '1\u0000', '1\u200b', '$1', '1%', '--1', '1-',
  ])('%j has no known form', text => {
    expect(parseAmount(text, 18)).toEqual({ ok: false, problem: 'format' });
  }); // biome-ignore format: one list

  test.each(['0', '0.0', '0.000000'])('%s is zero', text => {
    expect(parseAmount(text, 6)).toEqual({ ok: false, problem: 'zero' });
  });

  test.each([
    ['0.1', 0],
    ['1.0', 0],
    ['0.0000001', 6],
    ['1.0000000', 6],
    [`0.${'0'.repeat(18)}1`, 18],
  ])('%s is too precise for %i decimals', (text, decimals) => {
    expect(parseAmount(text, decimals)).toEqual({ ok: false, problem: 'precision' });
  });

  test.each([`1${'0'.repeat(30)}.000001`, `1${'0'.repeat(29)}1`, `2${'0'.repeat(30)}`, '9'.repeat(40)])(
    '%s is above 10^30',
    text => {
      expect(parseAmount(text, 6)).toEqual({ ok: false, problem: 'too_large' });
    },
  );

  test('text far too long is refused without being read', () => {
    expect(parseAmount('9'.repeat(1_000_000), 18)).toEqual({ ok: false, problem: 'format' });
    expect(parseAmount(`0.${'1'.repeat(1_000_000)}`, 18)).toEqual({ ok: false, problem: 'format' });
  });

  test('takes whatever a number prints as a plain decimal, exactly', () => {
    const digits = fc.bigInt({ min: 1n, max: 10n ** 30n });
    fc.assert(
      fc.property(digits, fc.integer({ min: 0, max: 36 }), (whole, decimals) => {
        expect(parseAmount(whole.toString(), decimals)).toEqual({ ok: true, units: whole * 10n ** BigInt(decimals) });
      }),
    );
  });

  test('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 0, max: 36 }), (text, decimals) => {
        const parsed = parseAmount(text, decimals);
        if (parsed.ok) expect(text).toMatch(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/);
      }),
    );
  });
});

describe('formatAmount', () => {
  test.each([
    [12_000_000n, 6, '12.00'],
    [12_500_000n, 6, '12.50'],
    [12_345_600n, 6, '12.3456'],
    [1n, 6, '0.000001'],
    [100_000n, 6, '0.10'],
    [10_000n, 6, '0.01'],
    [0n, 6, '0.00'],
    [0n, 0, '0.00'],
    [7n, 0, '7.00'],
    [75n, 1, '7.50'],
    [1n, 18, '0.000000000000000001'],
    [10n ** 48n, 18, `1${'0'.repeat(30)}.00`],
    [9_007_199_254_740_993n, 0, '9007199254740993.00'],
  ])('%d base units with %i decimals are %s', (units, decimals, text) => {
    expect(formatAmount(units, decimals)).toBe(text);
  });

  const units = fc.bigInt({ min: 1n, max: 10n ** 48n });
  const decimals = fc.integer({ min: 2, max: 18 });

  test('is read back to the same units', () => {
    fc.assert(
      fc.property(units, decimals, (amount, places) => {
        const parsed = parseAmount(formatAmount(amount, places), places);
        if (amount <= 10n ** BigInt(30 + places)) expect(parsed).toEqual({ ok: true, units: amount });
        else expect(parsed.ok).toBe(false);
      }),
    );
  });

  test('has at least two fractional digits and no zeros beyond them', () => {
    fc.assert(
      fc.property(units, fc.integer({ min: 0, max: 18 }), (amount, places) => {
        expect(formatAmount(amount, places)).toMatch(/^(0|[1-9][0-9]*)\.[0-9]{2}([0-9]*[1-9])?$/);
      }),
    );
  });
});
