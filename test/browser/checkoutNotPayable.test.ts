// @module-tag browser
import { describe, expect, test } from 'vitest';
import { address } from '../checkout/checkoutViews.ts';
import { eventually } from '../support/until.ts';
import { expectAccessible } from './axe.ts';
import { type CheckoutStage, stagedView, useCheckoutStages } from './checkoutStage.ts';
import { createTestWallet } from './testWallet.ts';

const onStage = useCheckoutStages();
const halfHourMs = 30 * 60_000;

/** Whatever is asked of the server, nothing comes back. */
const loseServer = ({ instead }: CheckoutStage): void => {
  for (const part of ['main', 'live']) instead.set(part, (_, response) => void response.destroy());
};

describe('time that is up while the server cannot be reached', () => {
  test.each(['waiting', 'underpaid'] as const)('takes the ways to pay away, and says so, when %s', state =>
    onStage(async stage => {
      const { page } = stage;
      stage.view = stagedView(state);
      await page.clock.install();
      await stage.open();
      loseServer(stage);
      await page.locator('#tab-way-qr').focus();
      await page.clock.fastForward(halfHourMs + 1_000);
      // The sentence itself comes a moment later.
      await page.clock.runFor(100);
      await page.locator('main[data-state=timeUp]').waitFor();
      const markup = (await page.locator('main').innerHTML()).toLowerCase();
      expect(markup).not.toContain(address.toLowerCase().slice(2));
      expect(markup).not.toMatch(/ethereum:|data-qr|data-wallet/);
      const text = await page.locator('main').innerText();
      expect(text).toContain('Do not send money now.');
      expect(text).not.toMatch(/Send only|Send the rest|Pay /);
      expect(await page.locator('h1').textContent()).toBe('The time to pay is up');
      expect(await page.title()).toBe('The time to pay is up');
      expect(await page.locator('#announce').textContent()).toMatch(/^The time to pay is up\. Do not send money now\./);
      expect(await page.evaluate('document.activeElement.localName')).toBe('h1');
      expect(stage.problems.filter(problem => !problem.includes('Failed to load'))).toEqual([]);
      await expectAccessible(stage);
    }),
  );

  test('is followed by what the server says, once it says something', () =>
    onStage(async stage => {
      const { page } = stage;
      await page.clock.install();
      await stage.open();
      loseServer(stage);
      await page.clock.fastForward(halfHourMs + 1_000);
      await page.locator('main[data-state=timeUp]').waitFor();
      stage.view = { ...stagedView('waiting', { version: '8' }), expiresAtMs: Date.now() - 1 };
      stage.instead.clear();
      await eventually(async () => {
        await page.clock.runFor(2_000);
        expect(await page.locator('main').getAttribute('data-version')).toBe('8');
      });
      expect(await page.locator('[data-until]').count()).toBe(0);
    }));
});

test('a wallet is not asked to send after the time, though the countdown slept', async () => {
  const wallet = createTestWallet(async method => (method === 'eth_accounts' ? [address] : '0xffffffffffff'));
  await onStage(async stage => {
    const { page } = stage;
    await page.clock.install();
    await stage.open();
    await page.clock.pauseAt(Date.now() + 10_000);
    await page.clock.setSystemTime(Date.now() + halfHourMs + 60_000);
    await page.getByRole('button', { name: 'Test wallet' }).click();
    await page.locator('[data-wallet-status]', { hasText: 'Do not send money now.' }).waitFor();
    expect(wallet.asked()).toEqual(['eth_requestAccounts', 'wallet_switchEthereumChain']);
  }, wallet.install);
});

test.each(['waiting', 'underpaid'] as const)(
  'the page of the server is accessible then, when %s',
  { tags: ['thorough'] },
  state =>
    onStage(async stage => {
      stage.view = { ...stagedView(state, { hasStrays: true }), expiresAtMs: Date.now() - 1 };
      await stage.open();
      await stage.page.locator('main[data-state=timeUp]').waitFor();
      await expectAccessible(stage);
    }),
);

test.each(['unknown', 'blocked', 'unavailable'] as const)(
  'the notice %s is accessible',
  { tags: ['thorough'] },
  notice =>
    onStage(async stage => {
      stage.notice = notice;
      await stage.open();
      await stage.page.locator(`main[data-notice="${notice}"]`).waitFor();
      await expectAccessible(stage);
    }),
);
