import fc from 'fast-check';
import { expect, test } from 'vitest';
import { languages } from '../../src/checkout/languages.ts';
import { renderMain } from '../../src/checkout/page.ts';
import { decimalText } from '../../src/checkout/speech.ts';
import { formatAmount } from '../../src/core/money.ts';
import { nowMs, viewIn } from './checkoutViews.ts';
import { find, parseMarkup, textOf } from './markup.ts';

const language = fc.constantFrom(...languages);
const money = fc
  .tuple(fc.integer({ min: 0, max: 24 }), fc.bigInt(1n, 10n ** 54n))
  .map(([decimals, units]) => ({ decimals, units, decimal: formatAmount(units, decimals) }));

/** The decimal separator of the language. */
const pointOf = (locale: string): string =>
  new Intl.NumberFormat(locale).formatToParts(1.5).find(({ type }) => type === 'decimal')!.value;

test('an amount keeps every digit in every language', () => {
  fc.assert(
    fc.property(language, money, (each, { decimal }) => {
      const point = pointOf(each.locale);
      const [whole, fraction, ...more] = decimalText(each, decimal).split(point);
      expect(more).toEqual([]);
      expect(`${whole!.replaceAll(/[^0-9]/g, '')}.${fraction}`).toBe(decimal);
    }),
  );
});

test('the heading of any amount names it, and Copy gives the plain decimal', () => {
  fc.assert(
    fc.property(language, money, (each, { decimals, decimal }) => {
      const view = viewIn('waiting', { amount: decimal, amountRemaining: decimal, decimals });
      const root = parseMarkup(renderMain(view, { language: each, nowMs }));
      const heading = textOf(find(root, ({ name }) => name === 'h1'));
      expect(heading).toBe(
        each.words.waitingTitle.replace('{amount}', `${decimalText(each, decimal)} USDC`).replace('{merchant}', 'Acme'),
      );
      find(root, ({ attributes }) => attributes.get('data-copy') === decimal);
    }),
  );
});

test('what was sent too much is the difference, to the last digit', () => {
  fc.assert(
    fc.property(money, fc.bigInt(1n, 10n ** 40n), ({ decimals, units, decimal }, extra) => {
      const view = viewIn('overpaid', {
        amount: decimal,
        amountReceived: formatAmount(units + extra, decimals),
        decimals,
      });
      const main = textOf(parseMarkup(renderMain(view, { language: languages[0]!, nowMs })));
      expect(main).toContain(`You sent ${decimalText(languages[0]!, formatAmount(extra, decimals))} USDC too much`);
    }),
  );
});
