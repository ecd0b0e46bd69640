// @module-tag browser
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectAccessibleInBoth } from './axe.ts';
import { inState, type Payment, useCheckoutScene } from './checkoutScene.ts';
import type { WatchedPage } from './watchedPage.ts';

const scene = useCheckoutScene();

const wide = { viewport: { width: 1280, height: 800 } };
const narrow = { viewport: { width: 390, height: 844 } };
const phone = { ...narrow, hasTouch: true, isMobile: true };
const description = 'Order 6735: two blue mugs';

let made: Payment | undefined;
const payment = async (): Promise<Payment> => {
  made ??= await scene.calls.made({ description });
  return made;
};

const open = async (options: BrowserContextOptions, lang = 'en'): Promise<WatchedPage> => {
  const watched = await scene.open(await payment(), { ...options, query: `?lang=${lang}` });
  await inState(watched, 'waiting');
  return watched;
};

/** The code with the whole request, which is the first. */
const codeOf = ({ page }: WatchedPage) => page.locator('figure[data-code="request"] svg');

const expectInSight = async (watched: WatchedPage, { width, height }: { width: number; height: number }) => {
  const code = codeOf(watched);
  await code.waitFor();
  const box = (await code.boundingBox())!;
  expect(await watched.page.evaluate('scrollY')).toBe(0);
  expect(box.y).toBeGreaterThan(0);
  expect(box.y + box.height).toBeLessThanOrEqual(height);
  expect(box.width).toBeGreaterThanOrEqual(170);
  expect(await watched.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
};

describe.each([
  ['at a desk, 1280 × 800', wide],
  ['in a narrow window, 390 × 844', narrow],
  ['on a phone, 390 × 844', phone],
])('%s', (_, options) => {
  const seesCode = async (lang: string): Promise<void> => {
    const watched = await open(options, lang);
    await expectInSight(watched, options.viewport);
    await watched.close();
  };
  test('the QR code is visible without scrolling, in en', () => seesCode('en'));
  test.each(['de', 'ru', 'ar', 'ja'])(
    'the QR code is visible without scrolling, in %s',
    { tags: ['thorough'] },
    seesCode,
  );

  test('the QR code is visible without scrolling where there is no script', { tags: ['thorough'] }, async () => {
    const watched = await open({ ...options, javaScriptEnabled: false });
    await expectInSight(watched, options.viewport);
    await watched.close();
  });
});

test('a phone has the link to a wallet above the QR code, a desk has none there', async () => {
  const [small, large] = [await open(phone), await open(wide)];
  const link = (watched: WatchedPage) => watched.page.locator('#way-qr a[data-uri]');
  const box = (await link(small).first().boundingBox())!;
  expect(box.y + box.height).toBeLessThanOrEqual((await codeOf(small).boundingBox())!.y);
  expect(box.height).toBeGreaterThanOrEqual(44);
  expect(await link(large).first().isVisible()).toBe(false);
  await Promise.all([small.close(), large.close()]);
});

test('the amount is said once, with Copy and the description beside it', async () => {
  const watched = await open(wide);
  const { page } = watched;
  const text = await page.locator('main').innerText();
  expect(text.split('25.00').length - 1).toBe(1);
  const [title, copy, about] = await Promise.all(
    ['h1', 'h1 + .copy', '.about .description'].map(async each => (await page.locator(each).boundingBox())!),
  );
  expect(copy!.y).toBeLessThan(title!.y + title!.height);
  expect(copy!.y + copy!.height).toBeGreaterThan(title!.y);
  expect(about!.y - (title!.y + title!.height)).toBeLessThan(24);
  expect(await page.locator('.about .description').innerText()).toBe(description);
  await watched.close();
});

test('the time to pay names its zone: the one of the payer, or UTC without script', async () => {
  const time = async (options: BrowserContextOptions): Promise<string> => {
    const watched = await open({ ...options, timezoneId: 'Asia/Kathmandu' });
    const shown = await watched.page.locator('.until time').innerText();
    await watched.close();
    return shown;
  };
  expect(await time(wide)).toMatch(/GMT\+5:45$/);
  expect(await time({ ...wide, javaScriptEnabled: false })).toMatch(/UTC$/);
});

test.each([
  ['en', wide],
  ['ar', wide],
  ['ar', phone],
])('the page has no fault that axe finds, in light and in dark: %s', { tags: ['thorough'] }, async (lang, options) => {
  const watched = await open(options, lang);
  await expectAccessibleInBoth(watched);
  await watched.close();
});
