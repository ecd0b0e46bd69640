// @module-tag browser
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { provenSeconds } from '../../../src/core/access/proofRules.ts';
import type { Payment } from '../../../src/core/api/payment.ts';
import { auditActions } from '../../../src/core/auditActions.ts';
import type { DashboardClient } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { expectAccessibleInBoth } from '../axe.ts';
import { expectNoFaults, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();
let owner: DashboardClient;

/** More than there are charts at first. USDC on Optimism comes late in the alphabet and has the most payments. */
const volumes = [
  { currency: 'DAI', network: 'base', amount: '123456789.000000000000000001' },
  { currency: 'EURC', network: 'base', amount: '0.25' },
  { currency: 'ETH', network: 'base', amount: '0.01' },
  { currency: 'USDC', network: 'arbitrum', amount: '30' },
  { currency: 'USDC', network: 'base', amount: '40' },
  { currency: 'USDC', network: 'polygon', amount: '50' },
  { currency: 'USDT', network: 'base', amount: '60' },
  { currency: 'USDC', network: 'optimism', amount: '1' },
  { currency: 'USDC', network: 'optimism', amount: '2' },
];
const kinds = 8;

const simulate = async (body: (typeof volumes)[number], outcome: string): Promise<Payment> => {
  const { id } = await owner.do('POST /payments', { body });
  const params = { id };
  return owner.do('POST /payments/:id/simulate', { params, body: { outcome } });
};

beforeAll(async () => {
  owner = await pages.dashboard.as('owner');
  for (const each of volumes) await simulate(each, 'paid');
  await simulate(volumes[4]!, 'underpaid');
  await until(
    () => owner.do('GET /home'),
    home => home.volumes.length === kinds && home.attention.length === 1,
  );
});

const settled = async (page: Page): Promise<void> => {
  await page.locator('.loading, .starting').first().waitFor({ state: 'detached' });
};
const chartNames = (page: Page): Promise<string[]> => page.locator('.chart-cards h2').allTextContents();

test('home shows every currency with volume, those with the most payments first', async () => {
  const watched = await pages.open('/test', owner);
  const { page } = watched;
  await page.getByRole('heading', { name: 'USDC on OP Mainnet' }).waitFor();
  const first = await chartNames(page);
  expect(first).toHaveLength(6);
  expect(first[0]).toBe('USDC on OP Mainnet');
  const others = page.getByRole('table', { name: 'More currencies and networks' });
  expect(await others.locator('tbody tr').count()).toBe(kinds - first.length);
  const listed = await others.locator('tbody tr td:first-child').allTextContents();
  await page.getByRole('button', { name: 'Show all charts' }).click();
  await others.waitFor({ state: 'detached' });
  expect((await chartNames(page)).sort()).toEqual([...first, ...listed].sort());
  expect(new Set(await chartNames(page)).size).toBe(kinds);
  await expectAccessibleInBoth(watched);
  expectNoFaults(watched);
  await watched.close();
});

test('a currency has the same colour on every network and in every list', { tags: ['thorough'] }, async () => {
  const { page, close } = await pages.open('/test', owner);
  const others = page.getByRole('table', { name: 'More currencies and networks' });
  await others.waitFor();
  const fillOf = (name: string) =>
    page
      .locator('.card', { has: page.getByRole('heading', { name, exact: true }) })
      .locator('.chart-series')
      .evaluate(series => Reflect.get(globalThis, 'getComputedStyle')(series).fill);
  const dots = await others
    .locator('.currency-dot')
    .evaluateAll(all =>
      all.map(dot => [dot.textContent, Reflect.get(globalThis, 'getComputedStyle')(dot, '::before').backgroundColor]),
    );
  expect(dots.length).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Show all charts' }).click();
  await others.waitFor({ state: 'detached' });
  for (const [name, colour] of dots) expect(await fillOf(name), name).toBe(colour);
  const coloured = await Promise.all(
    (await chartNames(page)).map(async name => [name.split(' ')[0], await fillOf(name)]),
  );
  expect(new Set(coloured.map(String)).size).toBe(new Set(coloured.map(([currency]) => currency)).size);
  await close();
});

test('home names networks, problems and small amounts as they are', async () => {
  const { page, close } = await pages.open('/test', owner);
  await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
  await page.getByRole('link', { name: '1 underpaid (pending)' }).waitFor();
  const row = page.getByRole('table', { name: 'Networks' }).getByRole('row', { name: /^Base/ });
  expect(await row.getByRole('cell').first().innerText()).toBe('Base\nLocal test chain');
  const axis = page
    .locator('.card', { has: page.getByRole('heading', { name: 'EURC on Base' }) })
    .locator('.chart-axis span');
  expect(await axis.allTextContents()).toEqual(['0.3', '0.2', '0.1', '0']);
  await close();
});

const fits = async (width: number): Promise<void> => {
  const watched = await pages.open('/test/settlement', owner, { viewport: { width, height: 900 } });
  const { page } = watched;
  const table = page.getByRole('table', { name: 'Not swept yet' });
  await table.getByText('123,456,789').waitFor();
  await table.getByText('1 payment on Arbitrum One').waitFor();
  const cells = table.locator('td[data-head="Estimated fee"]');
  expect(await cells.count()).toBe(kinds);
  for (const text of await cells.allTextContents()) {
    expect(text).toMatch(/^[\d.,]+ (ETH|POL)$/);
    expect(text.replace(/ .*$/, '').replaceAll(/[.,]/g, '').replace(/^0+/, '').length).toBeLessThanOrEqual(4);
  }
  const ofPolygon = table.locator('tr', { hasText: 'on Polygon' }).locator('td[data-head="Estimated fee"]');
  expect(await ofPolygon.textContent()).toMatch(/ POL$/);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  const right = await table.evaluate(element => element.getBoundingClientRect().right);
  expect(right).toBeLessThanOrEqual(width);
  expectNoFaults(watched);
  await watched.close();
};
test('settlement fits 768 px with its fees in a few digits', () => fits(768));
test.each([720, 320])('settlement fits %d px with its fees in a few digits', { tags: ['thorough'] }, fits);

test('the audit log has sentences, and a filter with every action', async () => {
  const { id } = await owner.do('POST /payments', { body: volumes[4]! });
  await owner.do('POST /payments/:id/cancel', { params: { id } });
  const { page, close } = await pages.open('/test/audit', owner);
  await settled(page);
  const values = await page
    .getByLabel('Action')
    .locator('option')
    .evaluateAll(all => all.map(each => each.value));
  expect(values.filter(Boolean).sort()).toEqual([...auditActions].sort());
  await page.getByLabel('Action').selectOption('payment.canceled');
  await page.getByText(`Owner 1 <owner1@example.com> canceled the payment ${id}.`).waitFor();
  await page.getByLabel('Action').selectOption('account.created');
  await page.getByText(/^Command line created the account “.+”\.$/).waitFor();
  await close();
});

const tick = 'm5 12 5 5 9-10';
const iconOf = (page: Page, selector: string) => page.locator(`${selector} .icon path`).first().getAttribute('d');

test('bad news has no tick', async () => {
  await owner.prove();
  const watched = await pages.open('/test/webhooks', owner);
  const { page, context } = watched;
  await page.getByRole('button', { name: 'Add an endpoint' }).first().click();
  await page.getByRole('textbox', { name: 'Endpoint URL' }).fill('http://127.0.0.1:9/closed');
  await page.getByRole('button', { name: 'Add and send a test event' }).click();
  await page.getByText('The test event was not delivered.').waitFor();
  await page.locator('.notice-bad .icon').waitFor();
  expect(await iconOf(page, '.notice-bad')).not.toBe(tick);
  await page.getByRole('button', { name: 'Close' }).first().click();

  await context.route('**/dashboard/api/sign-out?**', route => route.abort());
  await page.locator('.person-menu summary').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('.toast-bad').waitFor();
  expect(await iconOf(page, '.toast-bad')).not.toBe(tick);
  await watched.close();
});

test('the proof dialog says how long a proof lasts', async () => {
  await owner.unprove();
  const { page, close } = await pages.open('/test/settings', owner);
  await page.getByRole('button', { name: 'Reveal secret' }).click();
  await page
    .getByRole('dialog', { name: 'Confirm that it is you' })
    .getByText(`not asked again for ${provenSeconds / 60} minutes`)
    .waitFor();
  await close();
});
