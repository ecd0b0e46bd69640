// @module-tag browser
// @module-tag thorough
import { describe, expect, test } from 'vitest';
import { pickLanguage } from '../../src/checkout/languages.ts';
import { renderMain } from '../../src/checkout/page.ts';
import type { CheckoutState, CheckoutView } from '../../src/core/checkoutView.ts';
import { eventually } from '../support/until.ts';
import { expectAccessible } from './axe.ts';
import { type CheckoutStage, stagedView, useCheckoutStages } from './checkoutStage.ts';
import { expectNoProblems } from './watchedPage.ts';

const onStage = useCheckoutStages();
const contactOf = ({ page }: CheckoutStage) => page.getByRole('link', { name: 'Contact Acme' });

const cases: readonly [CheckoutState, Partial<CheckoutView>][] = [
  ['expiredWithFunds', { supportContact: 'help@acme.example' }],
  ['reversed', { supportContact: 'https://acme.example/help' }],
  ['notPayable', { supportContact: 'help@acme.example', hasStrays: true }],
  ['canceled', { supportContact: 'help@acme.example', amountReceived: '3.00', exception: 'underpaid' }],
  ['expired', { supportContact: 'help@acme.example' }],
  ['waiting', { supportContact: 'https://acme.example/help', hasStrays: true }],
  ['overpaid', { supportContact: 'help@acme.example' }],
];

test.each(cases)(
  'the way to the merchant is accessible, and fits the narrowest phone, when %s',
  { tags: ['thorough'] },
  (state, changes) =>
    onStage(async stage => {
      stage.view = stagedView(state, changes);
      await stage.page.setViewportSize({ width: 320, height: 640 });
      await stage.open();
      await stage.page.locator(`main[data-state=${state}]`).waitFor();
      expect(await contactOf(stage).isVisible()).toBe(true);
      expect(await stage.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await expectAccessible(stage);
      expectNoProblems(stage);
    }),
);

describe('a page of the merchant', () => {
  test('opens beside this one, and neither is told of the other', () =>
    onStage(async stage => {
      const { page, context } = stage;
      const answer = { contentType: 'text/html', body: '<title>Help</title>' };
      await context.route('https://acme.example/**', route => route.fulfill(answer));
      stage.view = stagedView('reversed', { supportContact: 'https://acme.example/help' });
      await stage.open();
      const asked = context.waitForEvent('request', request => request.url() === 'https://acme.example/help');
      const [opened] = await Promise.all([context.waitForEvent('page'), contactOf(stage).click()]);
      expect(await (await asked).headerValue('referer')).toBe(null);
      await opened.waitForLoadState();
      expect(await opened.evaluate('window.opener')).toBe(null);
      expect(await page.locator('main').getAttribute('data-state')).toBe('reversed');
    }));
});

test('whoever is at the link stays there when the page changes', () =>
  onStage(async stage => {
    const changes = { supportContact: 'help@acme.example' };
    stage.view = stagedView('expiredWithFunds', changes);
    await stage.open();
    await eventually(async () => expect(stage.streams()).toBe(1));
    await contactOf(stage).focus();
    const next = stagedView('expiredWithFunds', { ...changes, version: '8', amountReceived: '20.00' });
    stage.tell('main', renderMain(next, { language: pickLanguage('en'), nowMs: Date.now() }));
    await stage.page.locator('main[data-version="8"]').waitFor();
    expect(await stage.page.evaluate('document.activeElement.href')).toMatch(/^mailto:help@acme\.example\?/);
  }));
