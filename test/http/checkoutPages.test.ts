import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { checkoutAssets } from '../../src/checkout/assets.ts';
import { type Language, languages } from '../../src/checkout/languages.ts';
import { createCheckoutPages } from '../../src/http/checkout/checkoutPages.ts';
import { crowded, nowMs, states } from '../checkout/checkoutViews.ts';

test.each(states)('a page that is %s unpacks to what it is', state => {
  const pages = createCheckoutPages(checkoutAssets(), () => nowMs);
  const view = crowded(state);
  for (const language of languages) {
    expect(gunzipSync(pages.packedPage(view, language)).equals(pages.page(view, language))).toBe(true);
    expect(gunzipSync(pages.packedMain(view, language)).equals(pages.main(view, language))).toBe(true);
  }
});

test('a page is made again once it is of another version', () => {
  const pages = createCheckoutPages(checkoutAssets(), () => nowMs);
  const [language] = languages;
  const view = crowded('waiting');
  expect(pages.page(view, language!).toString()).not.toContain('Renamed');
  const renamed = { ...view, merchantName: 'Renamed', version: 'another' };
  expect(pages.page(renamed, language!).toString()).toContain('Renamed');
});

test('a page is in the language that it is asked for in, whichever others were', () => {
  const pages = createCheckoutPages(checkoutAssets(), () => nowMs);
  const view = crowded('waiting');
  const asked = [...languages, ...languages];
  const shown = asked.map(language => /<html lang="([^"]+)"/.exec(pages.page(view, language).toString())![1]);
  expect(shown).toEqual(asked.map(({ tag }) => tag));
});

test('a page is made and packed once for each language, and not again until it changes', () => {
  const pages = createCheckoutPages(checkoutAssets(), () => nowMs);
  const [first, second] = languages as [Language, Language];
  const view = crowded('waiting');
  const show = (language: Language): Buffer[] => [
    pages.page(view, language),
    pages.main(view, language),
    pages.packedPage(view, language),
    pages.packedMain(view, language),
  ];
  const made = [first, second].map(show);
  for (const [i, language] of [first, second].entries()) {
    for (const [part, bytes] of show(language).entries()) expect(bytes).toBe(made[i]![part]);
  }
  const changed = { ...view, merchantName: 'Renamed', version: 'another' };
  expect(pages.page(changed, first)).not.toBe(made[0]![0]);
});
