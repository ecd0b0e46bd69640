// @module-tag browser
// @module-tag thorough
import { describe, expect, test } from 'vitest';
import { inState, type Payment, useCheckoutScene } from './checkoutScene.ts';
import { type CuttableLine, openLine } from './cuttableLine.ts';
import { expectNoProblems, type WatchedPage } from './watchedPage.ts';

/** So few streams that a test can take them all. */
const mostStreams = 3;
const scene = useCheckoutScene({ live: { perAddress: mostStreams } });

const pathOf = (what: string) => (url: URL) => url.pathname.endsWith(`/${what}`);
const asked = ({ requests }: WatchedPage, what: string) => requests.filter(each => pathOf(what)(new URL(each.url())));
const cancel = async ({ id }: Payment): Promise<void> => void (await scene.calls.act(id, 'cancel'));

/** A page that is reached through a line of its own. */
const openByLine = async (payment: Payment): Promise<{ watched: WatchedPage; line: CuttableLine }> => {
  const line = await openLine(payment.checkoutUrl);
  const watched = await scene.open({ ...payment, checkoutUrl: line.url });
  return { watched, line };
};

describe('a stream', () => {
  test('that ends comes back with what was missed, and the page is the same', async () => {
    const payment = await scene.calls.made();
    const { watched, line } = await openByLine(payment);
    const { page } = watched;
    await inState(watched, 'waiting');
    await page.evaluate('window.isSamePage = true');
    line.setOpen(false);
    await cancel(payment);
    line.setOpen(true);
    await inState(watched, 'canceled');
    expect(await page.evaluate('window.isSamePage')).toBe(true);
    expect(asked(watched, 'live').length).toBeGreaterThan(1);
    await watched.close();
    await line.close();
  });

  test('that is refused is replaced by asking', async () => {
    const payment = await scene.calls.made();
    const others = [];
    for (let taken = 0; taken < mostStreams; taken++) {
      const other = await scene.open(payment);
      const streaming = other.page.waitForResponse(response => pathOf('live')(new URL(response.url())));
      await other.page.reload();
      await streaming;
      others.push(other);
    }
    const watched = await scene.open(payment);
    await watched.page.waitForResponse(response => response.status() === 304 && response.url().includes('/main'));
    await cancel(payment);
    await inState(watched, 'canceled');
    expect(await watched.page.locator('#connection').isVisible()).toBe(false);
    for (const each of [watched, ...others]) await each.close();
  });

  test('that nothing comes through is replaced by asking', async () => {
    const payment = await scene.calls.made();
    const watched = await scene.open(payment);
    // A proxy that collects answers before it passes them on.
    await watched.page.route(pathOf('live'), () => {});
    await watched.page.reload();
    await cancel(payment);
    await inState(watched, 'canceled');
    expectNoProblems(watched);
    await watched.close();
  });
});

describe('a page that nobody looks at', () => {
  const look = (state: string): string => `
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' });
    document.dispatchEvent(new Event('visibilitychange'));`;

  test('lets go of its stream after a while, and is caught up when somebody does', async () => {
    const payment = await scene.calls.made();
    const watched = await scene.open(payment);
    const { page } = watched;
    await page.clock.install();
    await page.reload();
    await page.evaluate(look('hidden'));
    await page.clock.fastForward(120_000);
    const before = asked(watched, 'live').length;
    await cancel(payment);
    await page.evaluate(look('visible'));
    await inState(watched, 'canceled');
    expect(asked(watched, 'live').length).toBe(before + 1);
    expectNoProblems(watched);
    await watched.close();
  });
});

describe('a payer without a connection', () => {
  test('is told so, and caught up afterwards', async () => {
    const payment = await scene.calls.made();
    const watched = await scene.open(payment, { locale: 'en-GB' });
    const { page, context } = watched;
    await context.setOffline(true);
    await page.locator('#connection:visible', { hasText: 'offline' }).waitFor();
    await cancel(payment);
    await context.setOffline(false);
    await inState(watched, 'canceled');
    await page.locator('#connection').waitFor({ state: 'hidden' });
    await watched.close();
  });

  test('of whom only the service is gone is told that, too', async () => {
    const payment = await scene.calls.made();
    const { watched, line } = await openByLine(payment);
    line.setOpen(false);
    await watched.page.locator('#connection:visible', { hasText: 'Connection lost' }).waitFor();
    line.setOpen(true);
    await watched.page.locator('#connection').waitFor({ state: 'hidden' });
    await watched.close();
    await line.close();
  });
});

describe('an update', () => {
  test('leaves focus, tab and code where they were, and goes to the heading where they are gone', async () => {
    const payment = await scene.calls.made({ network: 'base' });
    const watched = await scene.open(payment);
    const { page } = watched;
    const active =
      'document.activeElement.id || document.activeElement.getAttribute("aria-label") || document.activeElement.localName';
    const aboveDust = 20_000n;
    const changed = async (): Promise<void> => {
      const version = await page.locator('main').getAttribute('data-version');
      await scene.pay(payment, aboveDust);
      await page.locator(`main:not([data-version="${version}"])`).waitFor();
    };
    await page.locator('#code-address').click();
    const places: readonly [string, string][] = [
      ['#code-address', 'code-address'],
      ['#tab-way-qr', 'tab-way-qr'],
      // Its string is another then: it is the same button all the same.
      ['[aria-label="Copy the amount"]', 'Copy the amount'],
      ['select[name=lang]', 'lang'],
      ['h1', 'h1'],
    ];
    for (const [selector, name] of places) {
      await page.locator(selector).focus();
      await changed();
      expect(await page.evaluate(active)).toBe(name);
      expect(await page.locator('figure[data-code=address]').isVisible()).toBe(true);
    }
    await page.locator('#tab-way-qr').focus();
    await scene.pay(payment, 25_000_000n - aboveDust * BigInt(places.length));
    await inState(watched, 'confirming');
    expect(await page.evaluate(active)).toBe('h1');
    expectNoProblems(watched);
    await watched.close();
  });
});
