import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { checkoutAssets } from '../../src/checkout/assets.ts';
import { type Language, languages } from '../../src/checkout/languages.ts';
import { createCheckoutPages } from '../../src/http/checkoutPages.ts';
import { crowded, nowMs, states } from '../checkout/checkoutViews.ts';

test.each(states)('a page that is %s unpacks to what it is, at each time', state => {
  let ms = nowMs;
  const pages = createCheckoutPages(checkoutAssets(), () => ms);
  const view = crowded(state);
  for (const language of languages) {
    const first = pages.packedPage(view, language);
    const written = pages.page(view, language).toString();
    ms += 1_000;
    const second = pages.packedPage(view, language);
    expect(gunzipSync(second).equals(pages.page(view, language))).toBe(true);
    // The answer before it is still as it was, though it may not have left yet.
    expect(gunzipSync(first).toString()).toBe(written);
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
  const made = [first, second].map(language => pages.page(view, language));
  const packed = [first, second].map(language => pages.packedMain(view, language));
  for (const [i, language] of [first, second].entries()) {
    expect(pages.page(view, language)).toBe(made[i]);
    expect(pages.packedMain(view, language)).toBe(packed[i]);
  }
  const changed = { ...view, merchantName: 'Renamed', version: 'another' };
  expect(pages.page(changed, first)).not.toBe(made[0]);
  expect(pages.page(view, second), 'what is of another version is not kept beside it').not.toBe(made[1]);
});
