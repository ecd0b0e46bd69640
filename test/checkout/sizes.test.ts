import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { checkoutAssets } from '../../src/checkout/assets.ts';
import { type Language, languages } from '../../src/checkout/languages.ts';
import { renderNotice, renderPage } from '../../src/checkout/page.ts';
import type { CheckoutState, CheckoutView } from '../../src/core/checkoutView.ts';
import { crowded, nowMs, states } from './checkoutViews.ts';

const assets = checkoutAssets();
const sizeOf = (body: string | Buffer): number => gzipSync(body).length;
const kilobyte = 1000;

/** A thousand characters of another language, so that the page does not contain them already. */
const foreign = (language: Language): string => {
  const other = languages[(languages.indexOf(language) + 1) % languages.length]!;
  return [...Object.values(other.words).join(' ')].slice(0, 1000).join('');
};

/** The longest description and contact, and more transactions than are shown. */
const largest = (state: CheckoutState, language: Language): CheckoutView => ({
  ...crowded(state),
  description: foreign(language),
  supportContact: `https://acme.example/${createHash('sha512').update(language.tag).digest('hex').repeat(3)}`.slice(
    0,
    300,
  ),
  transactions: Array.from({ length: 12 }, (_, index) => {
    const hash = `0x${createHash('sha256').update(String(index)).digest('hex')}`;
    return { hash, amount: '1.25', status: 'confirmed' as const, explorerUrl: `https://basescan.org/tx/${hash}` };
  }),
});

test.each(languages)('every page in $tag is small', language => {
  const notices = (['unknown', 'blocked', 'unavailable'] as const).map(kind =>
    renderNotice(kind, { language, assets }),
  );
  const pages = states.map(state => renderPage(largest(state, language), { language, nowMs, assets }));
  expect(Math.max(...[...notices, ...pages].map(sizeOf))).toBeLessThanOrEqual(8 * kilobyte);
});

test('what a page loads is small', () => {
  expect(sizeOf(assets.css.body)).toBeLessThanOrEqual(6 * kilobyte);
  expect(sizeOf(assets.script.body)).toBeLessThanOrEqual(12 * kilobyte);
  expect(sizeOf(assets.icon.body)).toBeLessThanOrEqual(4 * kilobyte);
});

test('names of assets follow from what they hold', () => {
  for (const { name } of Object.values(assets)) expect(name).toMatch(/^[a-z]+-[0-9a-f]{16}\.(?:css|js|svg)$/);
  expect(checkoutAssets()).toEqual(assets);
});

test('the script is without types and comments, and the style sheet without anything from elsewhere', () => {
  expect(() => new Function(assets.script.body.toString())).not.toThrow();
  expect(assets.script.body.toString()).not.toMatch(/^\s*\/[/*]/m);
  expect(assets.css.body.toString()).not.toMatch(/@import|url\(/);
});
