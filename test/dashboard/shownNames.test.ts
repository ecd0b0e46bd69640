import { expect, test } from 'vitest';
import { mainnets, slugs } from '../../src/core/registry/backings.ts';
import { currencyTone } from '../../web/dashboard/kit/currencyTone.ts';
import { networkName } from '../../web/dashboard/kit/networkName.ts';
import { feeText } from '../../web/dashboard/money/feeText.ts';
import { healthCount } from '../../web/dashboard/webhooks/healthCount.ts';

test('a network is called what its main network is called', () => {
  for (const slug of slugs) expect(networkName(slug)).toBe(mainnets[slug].name);
});

test('each currency of the registry has a colour of its own', () => {
  const all = slugs.flatMap(slug => [mainnets[slug].nativeCurrency, ...mainnets[slug].tokens]);
  const symbols = [...new Set(all.map(({ symbol }) => symbol))];
  expect(new Set(symbols.map(currencyTone)).size).toBe(symbols.length);
});

test('a token that an operator adds has one colour, too', () => {
  expect(currencyTone('GLD')).toBe(currencyTone('GLD'));
  expect(currencyTone('GLD')).toBeGreaterThanOrEqual(1);
  expect(currencyTone('GLD')).toBeLessThanOrEqual(8);
});

test.each([
  ['0.000123456789', 'ETH', '0.0001235 ETH'],
  ['0.000000000000000021', 'POL', '0.000000000000000021 POL'],
  ['1.5', 'AVAX', '1.5 AVAX'],
  ['12345.678', 'BNB', '12,350 BNB'],
])('a fee of %s %s is shown with at most four significant digits', (costNative, nativeCurrency, expected) => {
  expect(feeText({ gas: { units: '21000', costNative, nativeCurrency } })).toBe(expected);
});

test('a fee that no node estimates is not shown as a number', () => {
  expect(feeText({ gas: null })).toBe('Unknown');
  expect(feeText({ gas: { units: '21000', costNative: null, nativeCurrency: 'ETH' } })).toBe('Unknown');
});

test('a count that reached the limit of counting is shown as a least count', () => {
  const health = { succeeded: 1_000, waiting: 600, retrying: 399, parked: 2, failedAttempts: 1_204 };
  const shown = (name: keyof typeof health, more: Partial<typeof health> = {}) =>
    healthCount({ ...health, ...more }, name);
  expect(shown('succeeded')).toBe('1,000+');
  expect(shown('waiting')).toBe('600');
  expect(shown('waiting', { retrying: 400 })).toBe('600+');
  expect(shown('retrying', { retrying: 400 })).toBe('400+');
  expect(shown('parked')).toBe('2');
  expect(shown('failedAttempts')).toBe('1,204+');
  expect(shown('failedAttempts', { succeeded: 999 })).toBe('1,204');
});
