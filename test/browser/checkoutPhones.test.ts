// @module-tag browser
// @module-tag thorough
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible } from './axe.ts';
import { inState, type Payment, useCheckoutScene } from './checkoutScene.ts';
import { givePublicName, type PublicName } from './publicName.ts';
import { createTestWallet } from './testWallet.ts';
import { expectNoProblems, type WatchedPage } from './watchedPage.ts';

const scene = useCheckoutScene();

const phone: BrowserContextOptions = { hasTouch: true, isMobile: true, viewport: { width: 360, height: 740 } };
const desk: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };

const publicOrigin = 'https://pay.example:8443';
let name: PublicName;
beforeAll(async () => {
  name = await givePublicName('pay.example:8443', scene.florin.florin.urls.sandbox);
});

type Opening = { options?: BrowserContextOptions; query?: string; prepare?: (page: Page) => Promise<void> };

/** As it is reached from elsewhere, with all that Florin sends along. */
const openPublicly = async (payment: Payment, { options = phone, ...opening }: Opening = {}): Promise<WatchedPage> => {
  const checkoutUrl = `${publicOrigin}${new URL(payment.checkoutUrl).pathname}`;
  const opened = { ...options, proxy: { server: name.proxy }, ...opening };
  const watched = await scene.open({ ...payment, checkoutUrl }, opened);
  await inState(watched, 'waiting');
  await watched.page.locator('#tab-way-wallet').click();
  return watched;
};

const apps = ({ page }: WatchedPage) => page.locator('[data-wallet-apps] a:visible');
const linksOf = async (watched: WatchedPage): Promise<Record<string, string>> => {
  const links = await apps(watched).all();
  const entries = links.map(async link => [await link.textContent(), await link.getAttribute('href')]);
  return Object.fromEntries(await Promise.all(entries));
};

/** Every address that the page has asked for but its own. */
const foreign = ({ requests }: WatchedPage): string[] =>
  requests.map(each => each.url()).filter(url => !url.startsWith(`${publicOrigin}/`));

describe('a phone without a wallet in its browser', () => {
  test.each([
    ['', 'en'],
    ['?lang=de&utm_source=evil%22%3E#top', 'de'],
  ])('is offered this page in the browsers of wallets, in its language: %j', async (query, lang) => {
    const payment = await scene.calls.made();
    const watched = await openPublicly(payment, { query });
    const page = `pay.example:8443/checkout/${payment.id}?lang=${lang}`;
    const encoded = encodeURIComponent(`https://${page}`);
    expect(await linksOf(watched)).toEqual({
      MetaMask: `https://link.metamask.io/dapp/${page}`,
      'Coinbase Wallet (Base)': `https://go.cb-w.com/dapp?cb_url=${encoded}`,
      'Trust Wallet': `https://link.trustwallet.com/open_url?coin_id=60&url=${encoded}`,
    });
    for (const link of await apps(watched).all()) {
      expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
      expect((await link.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    }
    // What opens any other wallet stays, below them.
    const marks = await watched.page.evaluate(`[...document.querySelectorAll(
      '#way-wallet :is([data-wallets], [data-wallet-none], [data-wallet-apps], a[data-uri])')].map(each => Object.keys(each.dataset)[0])`);
    expect(marks).toEqual(['wallets', 'walletNone', 'walletApps', 'uri']);
    expect(foreign(watched)).toEqual([]);
    expectNoProblems(watched);
    await watched.close();
  });

  test('keeps this page when it follows one, and tells no more than the link', async () => {
    const payment = await scene.calls.made();
    const watched = await openPublicly(payment);
    const { page, context } = watched;
    await context.route('https://link.metamask.io/**', route =>
      route.fulfill({ contentType: 'text/html', body: '<title>App</title>' }),
    );
    const asked = context.waitForEvent('request', each => each.url().startsWith('https://link.metamask.io/'));
    const [opened] = await Promise.all([context.waitForEvent('page'), apps(watched).first().click()]);
    expect((await asked).url()).toBe(`https://link.metamask.io/dapp/pay.example:8443/checkout/${payment.id}?lang=en`);
    expect(await (await asked).headerValue('referer')).toBe(null);
    await opened.waitForLoadState();
    expect(await opened.evaluate('window.opener')).toBe(null);
    // Paid over there, it is shown here.
    await scene.pay(payment, 25_000_000n);
    await inState(watched, 'confirming');
    expect(await page.locator('[data-wallet-apps]').count()).toBe(0);
    await watched.close();
  });

  test('finds them in every change of the page, and where it was among them', async () => {
    const payment = await scene.calls.made();
    const watched = await openPublicly(payment);
    await apps(watched).nth(1).focus();
    await scene.pay(payment, 1_000_000n);
    await inState(watched, 'underpaid');
    expect(await apps(watched).count()).toBe(3);
    expect(await watched.page.evaluate('document.activeElement.textContent')).toBe('Coinbase Wallet (Base)');
    await watched.close();
  });

  test('has an accessible page, as wide as it is', async () => {
    const options = { ...phone, viewport: { width: 320, height: 640 } };
    const watched = await openPublicly(await scene.calls.made(), { options });
    expect(await apps(watched).count()).toBe(3);
    expect(await watched.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await expectAccessible(watched);
    await watched.page.locator('#tab-way-wallet').click();
    await watched.page.locator('[data-wallet-apps] a').first().waitFor();
    await watched.close();
  });
});

describe('they are not offered', () => {
  const expectNone = async (watched: WatchedPage): Promise<void> => {
    await watched.page.locator('#way-wallet').waitFor();
    expect(await apps(watched).count()).toBe(0);
    expect(await watched.page.content()).not.toMatch(/metamask|cb-w\.com|trustwallet/i);
    expect(await watched.page.locator('#way-wallet a[data-uri]').isVisible()).toBe(true);
    await watched.close();
  };

  test('at a desk', async () => {
    await expectNone(await openPublicly(await scene.calls.made(), { options: desk }));
  });

  test('by a page of this machine, which no app reaches', async () => {
    const watched = await scene.open(await scene.calls.made(), phone);
    await watched.page.locator('#tab-way-wallet').click();
    await expectNone(watched);
  });

  test('where a wallet is there', async () => {
    const { install } = createTestWallet(scene.ask);
    const watched = await openPublicly(await scene.calls.made(), { prepare: install });
    await watched.page.getByRole('button', { name: 'Test wallet' }).waitFor();
    await expectNone(watched);
  });

  test('once a wallet has come that was late', async () => {
    const watched = await openPublicly(await scene.calls.made());
    expect(await apps(watched).count()).toBe(3);
    await watched.page.evaluate(`dispatchEvent(new CustomEvent('eip6963:announceProvider', {
      detail: { info: { uuid: 'late', name: 'Late wallet' }, provider: { request: async () => null } },
    }))`);
    await watched.page.getByRole('button', { name: 'Late wallet' }).waitFor();
    expect(await apps(watched).count()).toBe(0);
    await watched.close();
  });
});
