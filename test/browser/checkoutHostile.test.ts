// @module-tag browser
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { checkoutAssets } from '../../src/checkout/assets.ts';
import { languages } from '../../src/checkout/languages.ts';
import { renderPage } from '../../src/checkout/page.ts';
import type { CheckoutState } from '../../src/core/checkoutView.ts';
import { crowded, nowMs } from '../checkout/checkoutViews.ts';
import { hostileTexts } from '../checkout/hostileTexts.ts';
import { openBrowser } from './chromium.ts';
import { newContext, openWatched } from './watchedPage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});

const assets = checkoutAssets();
/** Everything that a merchant or a payer can write, all of it hostile at once. */
const pageWith = (state: CheckoutState, text: string): string =>
  renderPage(
    {
      ...crowded(state),
      merchantName: text,
      description: text,
      redirectUrl: text,
      supportContact: `https://acme.example/${text}`,
    },
    { language: languages[0]!, nowMs, assets },
  );

/** What texts would add to a page if they were markup, or make of it. */
const strange = `[...document.querySelectorAll('iframe')].flatMap(frame => {
  const { body } = frame.contentDocument;
  const found = [...body.querySelectorAll('script, img, iframe, object, embed, base, meta, link, style, template, video, math')];
  const handlers = [...body.querySelectorAll('*')].filter(each => each.getAttributeNames().some(name => name.startsWith('on')));
  const links = [...body.querySelectorAll('a[href]')].filter(each => !/^(?:https|ethereum):/.test(each.href));
  return [...found, ...handlers, ...links].map(each => each.outerHTML.slice(0, 200));
})`;

/** Frames of a page that has no policy at all: nothing but the escaping is between a text and a script. */
const runAll = async (pages: readonly string[]) => {
  const context = await newContext(browser);
  const { page, requests, close } = await openWatched(context);
  await page.addInitScript('window.alert = () => { top.ran = (top.ran ?? 0) + 1; };');
  await page.goto('about:blank');
  await page.evaluate(`Promise.all(${JSON.stringify(pages)}.map(page => new Promise(resolve => {
    const frame = document.createElement('iframe');
    frame.onload = resolve;
    frame.srcdoc = page;
    document.body.append(frame);
  })))`);
  const result = {
    ran: await page.evaluate('window.ran ?? 0'),
    strange: await page.evaluate(strange),
    foreign: requests.map(each => each.url()).filter(url => url.includes('evil.example')),
  };
  await close();
  await context.close();
  return result;
};

test('a text that is not escaped would run here', async () => {
  const result = await runAll([
    '<img src="data:," onerror=alert(1)>',
    '<link rel=stylesheet href=https://evil.example/x>',
  ]);
  expect(result).toEqual({
    ran: 1,
    strange: [expect.stringContaining('onerror'), expect.stringContaining('onerror')],
    foreign: ['https://evil.example/x'],
  });
});

test('none of 500 texts runs', { tags: ['thorough'] }, async () => {
  for (let at = 0; at < hostileTexts.length; at += 100) {
    const some = hostileTexts.slice(at, at + 100);
    // Between them the two states hold every part that shows a text; neighbours differ in nothing but the attack.
    const pages = some.map((text, index) => pageWith(index % 2 === 0 ? 'underpaid' : 'overpaid', text));
    expect(await runAll(pages)).toEqual({ ran: 0, strange: [], foreign: [] });
  }
});
