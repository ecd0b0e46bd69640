// @module-tag browser
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { tlsOf } from '../../src/cli/compose.ts';
import { eventually } from '../support/until.ts';
import { inState, type Payment, useCheckoutScene } from './checkoutScene.ts';
import { expectNoProblems, type WatchedPage } from './watchedPage.ts';

const scene = useCheckoutScene();
const kilobyte = 1000;

/** As the owner of the database, past its own guard. */
const tamper = ({ id }: Payment, assignment: string): Promise<void> =>
  scene.florin.admin.db.script(`begin; alter table payments disable trigger payments_frozen;
    update payments set ${assignment} where id = '${id}';
    alter table payments enable trigger payments_frozen; commit`);

const loaded = ({ requests }: WatchedPage) => requests.filter(each => !/\/(?:live|main)\?/.test(each.url()));

describe('what a page loads', () => {
  test('is at most four requests to its own origin and 30 kB compressed, and breaks no rule of its policy', async () => {
    const payment = await scene.calls.made({ redirectUrl: 'https://shop.example/', description: 'Two cups' });
    const watched = await scene.open(payment);
    await watched.page.waitForLoadState('networkidle');
    const kinds = new Map<string, number>();
    let sent = 0;
    for (const request of loaded(watched)) {
      expect(new URL(request.url()).origin).toBe(new URL(payment.checkoutUrl).origin);
      const response = (await request.response())!;
      expect(response.status()).toBe(200);
      const body = await response.body();
      const kind = (await response.headerValue('content-type'))!.split(';')[0]!;
      kinds.set(kind, gzipSync(body, { level: 9 }).length);
      sent += (await request.sizes()).responseBodySize;
    }
    expect(loaded(watched).length).toBeLessThanOrEqual(4);
    expect(kinds.get('text/html')).toBeLessThanOrEqual(8 * kilobyte);
    expect(kinds.get('text/css')).toBeLessThanOrEqual(6 * kilobyte);
    expect(kinds.get('text/javascript')).toBeLessThanOrEqual(12 * kilobyte);
    // As it came over the line.
    expect(sent).toBeLessThanOrEqual(30 * kilobyte);
    expectNoProblems(watched);
    await watched.close();
  });
});

describe('a row that was tampered with', () => {
  test('shows a page that says not to pay, without the address, and is logged', async () => {
    const payment = await scene.calls.made();
    const thief = `0x${'bad0'.repeat(10)}`;
    const open = await scene.open(payment);
    await inState(open, 'waiting');
    await tamper(payment, `address = '${thief}'`);
    const blocked = 'main[data-notice="blocked"]';
    // Also where the page is open already.
    await open.page.locator(blocked).waitFor();
    const fresh = await scene.open(payment);
    await fresh.page.locator(blocked).waitFor();
    for (const { page } of [open, fresh]) {
      const markup = (await page.content()).toLowerCase();
      expect(markup).not.toContain(thief);
      expect(markup).not.toContain(payment.address.toLowerCase());
    }
    expect(scene.logged).toContain('a payment does not match its seal');
    for (const each of [open, fresh]) await each.close();
  });
});

describe('an address to go back to', { tags: ['thorough'] }, () => {
  test.each(['http://localhost:9/thanks', 'javascript:document.title=1'])(
    'that is %s is no link',
    async redirectUrl => {
      const payment = await scene.calls.made({ network: 'ethereum' });
      await tamper(payment, `redirect_url = '${redirectUrl}'`);
      const watched = await scene.open(payment);
      await scene.pay(payment, 25_000_000n);
      await inState(watched, 'completed');
      expect(await watched.page.content()).not.toContain(redirectUrl);
      expect(await watched.page.locator('a[data-redirect]').count()).toBe(0);
      await watched.close();
    },
  );

  test.each(['http://shop.example/', 'javascript:document.title=1'])(
    'that is %s is not followed even if it were one',
    async url => {
      const safe = 'https://shop.example/thanks';
      const payment = await scene.calls.made({ network: 'ethereum', redirectUrl: safe });
      await scene.pay(payment, 25_000_000n);
      await scene.reach(payment, 'completed');
      const watched = await scene.open(payment);
      const { page } = watched;
      await page.clock.install();
      await page.route(payment.checkoutUrl, async route => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, body: (await answer.text()).replaceAll(safe, url) });
      });
      await page.route(/\/(?:live|main)\?/, route => route.abort());
      await page.reload();
      const title = await page.title();
      await page.clock.fastForward(30_000);
      expect(await page.locator('a[data-redirect]').getAttribute('href')).toBe(null);
      expect(await page.title()).toBe(title);
      expect(watched.requests.filter(each => each.url().includes('shop.example'))).toEqual([]);
      await watched.close();
    },
  );
});

describe('a frame', () => {
  const shows = (payment: Payment): string => `<title>Shop</title><iframe src="${payment.checkoutUrl}"></iframe>`;
  /** A shop on an origin of its own, whose page holds the checkout in a frame. */
  const openShop = async (): Promise<{
    origin: string;
    frame(payment: Payment): Promise<WatchedPage>;
    close(): void;
  }> => {
    let body = '';
    const server = createServer(await tlsOf(scene.florin.config), (_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(body),
    );
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
    return {
      origin,
      frame(payment) {
        body = shows(payment);
        return scene.open({ ...payment, checkoutUrl: `${origin}/` });
      },
      close() {
        server.close();
        server.closeAllConnections();
      },
    };
  };

  test('shows the page where the merchant allows its origin, and nowhere else', async () => {
    const payment = await scene.calls.made();
    const [friend, stranger] = [await openShop(), await openShop()];
    const { db } = scene.florin.admin;
    await db.script(`update account_settings set checkout_origins = '{${friend.origin}}'`);
    const shown = await friend.frame(payment);
    await shown.page.frameLocator('iframe').locator('main[data-state=waiting]').waitFor();
    const refused = await stranger.frame(payment);
    await eventually(async () => expect(refused.problems.join()).toContain('frame-ancestors'));
    expect(await refused.page.frameLocator('iframe').locator('main[data-state]').count()).toBe(0);
    await db.script(`update account_settings set checkout_origins = '{}'`);
    const anew = await friend.frame(payment);
    await eventually(async () => expect(anew.problems.join()).toContain('frame-ancestors'));
    for (const each of [shown, refused, anew]) await each.close();
    for (const each of [friend, stranger]) each.close();
  });
});

test('an unknown payment has a page that says so, in the language of the browser', async () => {
  const payment = await scene.calls.made();
  const unknown = { ...payment, checkoutUrl: `${payment.checkoutUrl.slice(0, -4)}zzzz` };
  const watched = await scene.open(unknown, { locale: 'tr-TR' });
  await watched.page.locator('html[lang=tr] main[data-notice="unknown"]').waitFor();
  await watched.close();
});

test('names and descriptions are text, whatever they hold', async () => {
  const description = '"><script>window.isHacked = true</script><img src=x onerror="window.isHacked = true">';
  const payment = await scene.calls.made({ description });
  const watched = await scene.open(payment);
  expect(await watched.page.locator('main').textContent()).toContain(description);
  expect(await watched.page.locator('main').textContent()).toContain('Acme & <b>Söhne</b>');
  await scene.calls.act(payment.id, 'cancel');
  await inState(watched, 'canceled');
  expect(await watched.page.locator('main').textContent()).toContain(description);
  expect(await watched.page.evaluate('window.isHacked')).toBeUndefined();
  expectNoProblems(watched);
  await watched.close();
});
