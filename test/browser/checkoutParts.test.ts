// @module-tag browser
import { describe, expect, test } from 'vitest';
import { eventually, until } from '../support/until.ts';
import { inState, useCheckoutScene } from './checkoutScene.ts';
import { createTestWallet } from './testWallet.ts';
import { expectNoProblems, type WatchedPage } from './watchedPage.ts';

const scene = useCheckoutScene();
const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] };
const copied = ({ page }: WatchedPage): Promise<unknown> => page.evaluate('navigator.clipboard.readText()');
const announced = ({ page }: WatchedPage, text: string): Promise<void> =>
  page.locator('#announce', { hasText: text }).waitFor();
const selected = ({ page }: WatchedPage): Promise<string | null> =>
  page.locator('[role=tab][aria-selected=true]').getAttribute('id');

describe('copying', () => {
  test('gives the plain strings, and says so', async () => {
    const payment = await scene.calls.made({ amount: '1234.5' });
    const watched = await scene.open(payment, clipboard);
    const { page } = watched;
    await page.getByRole('button', { name: 'Copy the amount' }).click();
    await announced(watched, 'Copied');
    expect(await copied(watched)).toBe('1234.50');
    await page.getByRole('tab', { name: 'Address' }).click();
    await page.getByRole('button', { name: 'Copy the address' }).click();
    await eventually(async () => expect(await copied(watched)).toBe(payment.address));
    expectNoProblems(watched);
    await watched.close();
  });

  test('goes another way where the clipboard is refused, and the focus stays', { tags: ['thorough'] }, async () => {
    const payment = await scene.calls.made();
    const watched = await scene.open(payment, clipboard);
    const { page } = watched;
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("refused"))');
    await page.getByRole('button', { name: 'Copy the payment ID' }).click();
    await announced(watched, 'Copied');
    expect(await copied(watched)).toBe(payment.id);
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Copy the payment ID');
    await watched.close();
  });
});

describe('time', () => {
  test('is shown in the zone of the payer', async () => {
    const payment = await scene.calls.made();
    const watched = await scene.open(payment, { timezoneId: 'Asia/Kathmandu' });
    const shown = await watched.page.locator('main time[data-local]').first().textContent();
    const format = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Kathmandu' } as const;
    const parts = new Intl.DateTimeFormat('en', format).format(new Date(payment.expiresAt)).split(/[\s,]+/u);
    for (const part of parts) expect(shown).toContain(part);
    await watched.close();
  });

  test('that is left goes by the clock of the server, and is told at ten, five and one minutes', async () => {
    const payment = await scene.calls.made({ expiresIn: 15 * 60 });
    const watched = await scene.open(payment);
    const { page } = watched;
    // A payer's clock that is an hour slow. The clock of tests hides what the browser has measured, and the server's time
    // with it.
    await page.context().addInitScript('window.measured = performance;');
    await page.clock.install({ time: Date.now() - 3_600_000 });
    await page.addInitScript('performance.getEntriesByType = type => measured.getEntriesByType(type);');
    await page.reload();
    const timer = page.getByRole('timer');
    const secondsLeft = async (): Promise<number> => {
      const [minutes, seconds] = (await timer.textContent())!.split(':').map(Number) as [number, number];
      return minutes * 60 + seconds;
    };
    await timer.waitFor();
    let left = await secondsLeft();
    expect(left).toBeLessThanOrEqual(15 * 60);
    expect(left).toBeGreaterThan(10 * 60);
    for (const minutes of [10, 5, 1]) {
      await page.clock.fastForward((left - minutes * 60 + 1) * 1000);
      // The sentence itself comes a moment later.
      await page.clock.runFor(1_000);
      await announced(watched, minutes === 1 ? '1 minute left' : `${minutes} minutes left`);
      left = await secondsLeft();
      expect(left).toBeLessThan(minutes * 60);
    }
    await watched.close();
  });
});

describe('tabs', () => {
  test.each([
    ['', 'ArrowRight', 'ArrowLeft'],
    ['?lang=ar', 'ArrowLeft', 'ArrowRight'],
  ])('follow the arrow keys, Home and End %s', async (query, forward, backward) => {
    const watched = await scene.open(await scene.calls.made(), { query });
    const { page } = watched;
    await page.locator('#tab-way-qr').focus();
    const moves: readonly [string, string][] = [
      [forward, 'way-address'],
      [forward, 'way-wallet'],
      [backward, 'way-address'],
      ['Home', 'way-wallet'],
      ['End', 'way-address'],
    ];
    for (const [key, way] of moves) {
      await page.keyboard.press(key);
      expect(await selected(watched)).toBe(`tab-${way}`);
      expect(await page.evaluate('document.activeElement.id')).toBe(`tab-${way}`);
      expect(await page.locator('[role=tabpanel]:visible').count()).toBe(1);
      expect(await page.locator(`#${way}`).isVisible()).toBe(true);
    }
    await watched.close();
  });
});

describe('language', () => {
  test('changes at once by pointer, and by the button from the keyboard', async () => {
    const watched = await scene.open(await scene.calls.made());
    const { page } = watched;
    await page.locator('select[name=lang]').selectOption('de');
    await page.locator('html[lang=de]').waitFor();
    await page.locator('select[name=lang]').focus();
    await page.keyboard.press('ArrowDown');
    const button = page.locator('form[data-language] button');
    await button.click();
    await page.locator('html:not([lang=de])').waitFor();
    expectNoProblems(watched);
    await watched.close();
  });

  test('is kept by what arrives live', { tags: ['thorough'] }, async () => {
    const payment = await scene.calls.made();
    const watched = await scene.open(payment, { query: '?lang=fr' });
    await scene.calls.act(payment.id, 'cancel');
    await inState(watched, 'canceled');
    const title = await watched.page.title();
    await watched.page.reload();
    expect(await watched.page.title()).toBe(title);
    expect(title).not.toContain('cancel');
    await watched.close();
  });
});

describe('the way back', () => {
  const fields = { network: 'ethereum', redirectUrl: 'https://shop.example/thanks?order=7' };

  test('is taken after a while', async () => {
    const payment = await scene.calls.made(fields);
    const watched = await scene.open(payment);
    const { page } = watched;
    await page.clock.install();
    await page.reload();
    const asked = page.waitForRequest(fields.redirectUrl);
    await scene.pay(payment, 25_000_000n);
    await inState(watched, 'completed');
    await page.getByText('Returning in').waitFor();
    await page.clock.fastForward(10_500);
    expect((await asked).isNavigationRequest()).toBe(true);
    await watched.close();
  });

  test('is not promised where no script takes it', async () => {
    const payment = await scene.calls.made(fields);
    await scene.pay(payment, 25_000_000n);
    await scene.reach(payment, 'completed');
    const watched = await scene.open(payment, { javaScriptEnabled: false });
    await inState(watched, 'completed');
    expect(await watched.page.locator('a[data-redirect]').isVisible()).toBe(true);
    expect(await watched.page.getByText('Returning in').isVisible()).toBe(false);
    await watched.close();
  });

  test('is not taken by who stays, and the focus does not go with the button', { tags: ['thorough'] }, async () => {
    const payment = await scene.calls.made(fields);
    await scene.pay(payment, 25_000_000n);
    await scene.reach(payment, 'completed');
    const watched = await scene.open(payment);
    const { page } = watched;
    await page.clock.install();
    await page.reload();
    await page.getByRole('button', { name: 'Stay here' }).press('Enter');
    expect(await page.evaluate('document.activeElement.href')).toBe(fields.redirectUrl);
    expect(await page.locator('[data-redirect-count]').isVisible()).toBe(false);
    await page.clock.fastForward(60_000);
    await inState(watched, 'completed');
    expect(watched.requests.filter(each => each.url().includes('shop.example'))).toEqual([]);
    await watched.close();
  });
});

describe('the receipt', () => {
  test('is printed', async () => {
    const payment = await scene.calls.made({ network: 'ethereum' });
    await scene.pay(payment, 25_000_000n);
    await scene.reach(payment, 'completed');
    const watched = await scene.open(payment);
    await watched.page.evaluate('window.print = () => { window.isPrinted = true; }');
    await watched.page.getByRole('button', { name: 'Print' }).click();
    expect(await watched.page.evaluate('window.isPrinted')).toBe(true);
    await watched.close();
  });
});

describe('the simulate panel', () => {
  test.each([true, false])('pays from the page itself, with script: %s', async javaScriptEnabled => {
    const payment = await scene.calls.made({ network: 'ethereum' });
    const watched = await scene.open(payment, { javaScriptEnabled });
    const { page } = watched;
    await page.locator('aside summary').click();
    await page.locator('button[name=outcome][value=underpaid]').click();
    if (!javaScriptEnabled) await scene.reach(payment, 'pending');
    await eventually(async () => {
      if (!javaScriptEnabled) await page.reload();
      expect(await page.locator('main').getAttribute('data-state')).toBe('underpaid');
    });
    expectNoProblems(watched);
    await watched.close();
  });
});

test('time that is up takes the address away before anything is known', { tags: ['thorough'] }, async () => {
  const payment = await scene.calls.made({ expiresIn: 6 });
  const pid = scene.florin.florin.devChainPid()!;
  const watched = await scene.open(payment);
  // A chain that does not answer: nobody can say whether it was paid in time, so it does not expire.
  process.kill(pid, 'SIGSTOP');
  try {
    await watched.page.getByRole('timer').waitFor({ state: 'detached' });
    expect((await watched.page.locator('main').innerHTML()).toLowerCase()).not.toContain(payment.address.toLowerCase());
    await inState(watched, 'timeUp');
    await announced(watched, 'The time to pay is up');
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await inState(watched, 'expired');
  expectNoProblems(watched);
  await watched.close();
  // Other networks on that node may not have been asked for since, and take no payments until then.
  await until(
    () => scene.florin.client.call('GET', '/v1/networks'),
    ({ json }) => json.data.every(({ status }: { status: string }) => status === 'operational'),
  );
});

/** Numbers what can be reached, so that two buttons that look the same are two; of tabs, the chosen one is. */
const numberAll = `[...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')]
  .filter(element => element.type !== 'hidden' && element.tabIndex >= 0 && element.checkVisibility())
  .map((element, index) => { element.dataset.stop = index; return index; })`;
const activeStop = 'document.activeElement.dataset.stop ?? document.activeElement.localName';

/** Where Tab leads, from the top until it leaves the page. */
const walk = async ({ page }: WatchedPage, stops: number): Promise<string[]> => {
  const reached: string[] = [];
  for (let step = 0; step < stops; step++) {
    await page.keyboard.press('Tab');
    reached.push(String(await page.evaluate(activeStop)));
  }
  return reached;
};

const expectAllReached = async (watched: WatchedPage): Promise<void> => {
  const stops = (await watched.page.evaluate(numberAll)) as number[];
  expect(stops.length).toBeGreaterThan(3);
  expect(await walk(watched, stops.length)).toEqual(stops.map(String));
};

describe('keys', () => {
  test('every control of a page that waits is reached by Tab, in the order of the page', async () => {
    const wallet = createTestWallet(scene.ask);
    const watched = await scene.open(await scene.calls.made(), { prepare: wallet.install });
    await watched.page.getByRole('tab', { name: 'Wallet', selected: true }).waitFor();
    await expectAllReached(watched);
    await watched.close();
  });

  test('every control of a receipt is reached by Tab', { tags: ['thorough'] }, async () => {
    const payment = await scene.calls.made({ network: 'ethereum', redirectUrl: 'https://shop.example/thanks' });
    await scene.pay(payment, 25_000_000n);
    await scene.reach(payment, 'completed');
    const watched = await scene.open(payment);
    await watched.page.getByRole('button', { name: 'Stay here' }).waitFor();
    await expectAllReached(watched);
    await watched.close();
  });

  test('a payment is made by keys alone, and the focus is somewhere at every step', async () => {
    const payment = await scene.calls.made({ network: 'base', currency: 'ETH', amount: '0.01' });
    const wallet = createTestWallet(scene.ask);
    const watched = await scene.open(payment, { prepare: wallet.install });
    const { page } = watched;
    await page.getByRole('tab', { name: 'Wallet', selected: true }).waitFor();
    const name = 'document.activeElement.textContent';
    for (let step = 0; step < 30 && (await page.evaluate(name)) !== 'Test wallet'; step++)
      await page.keyboard.press('Tab');
    expect(await page.evaluate(name)).toBe('Test wallet');
    await page.evaluate(`window.lost = 0;
      document.addEventListener('focusout', () => setTimeout(() => { window.lost += document.activeElement === document.body; }));`);
    await page.keyboard.press('Enter');
    await inState(watched, 'confirming');
    expect(await page.evaluate('document.activeElement.localName')).toBe('h1');
    expect(await page.evaluate('window.lost')).toBe(0);
    await watched.close();
  });
});
