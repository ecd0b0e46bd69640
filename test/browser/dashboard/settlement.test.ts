// @module-tag browser
// @module-tag thorough
import { beforeAll, expect, test } from 'vitest';
import type { Home, SweepPlan } from '../../../src/core/api/moneyApi.ts';
import type { DashboardClient } from '../../support/dashboard.ts';
import { expectAccessibleInBoth } from '../axe.ts';
import { expectNoFaults, prove, useDashboardPages } from './dashboardPages.ts';
import { addUnclaimed, fillSettlement } from './settlementScene.ts';

const pages = useDashboardPages();
let owner: DashboardClient;
let safe: string;
beforeAll(async () => {
  owner = await pages.dashboard.as('owner');
  safe = await fillSettlement(pages.dashboard, owner);
});

test.each([1280, 390])('settlement tells what is odd and what is refused, at %d px', async width => {
  const watched = await pages.open('/test/settlement', owner, { viewport: { width, height: 900 } });
  const { page } = watched;
  const unclaimed = page.getByRole('table', { name: 'Unclaimed funds' });
  await unclaimed.getByText('1.00 ETH').first().waitFor();
  expect(await unclaimed.locator('tbody tr').count()).toBe(2);
  await page.getByText('florin export recovery').waitFor();
  await page.getByRole('table', { name: 'Differences with the blockchain' }).getByText('+0.50 USDC').waitFor();
  const unswept = page.getByRole('table', { name: 'Not swept yet' });
  await unswept.getByText(', 1 in a wrong token or on a wrong network').waitFor();
  await unswept.getByText('An owner or admin must confirm that it is yours on Ethereum.').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  await expectAccessibleInBoth(watched);
  expectNoFaults(watched);
  await watched.close();
});

test('an owner confirms a contract as their own on this network, after a proof', async () => {
  const finance = await pages.open('/test/settlement', await pages.dashboard.as('finance'));
  await finance.page.getByText('An owner or admin must confirm').waitFor();
  expect(await finance.page.getByRole('button', { name: /^Confirm the treasury/ }).count()).toBe(0);
  await finance.close();

  await owner.unprove();
  const watched = await pages.open('/test/settlement', owner);
  const { page } = watched;
  await page.getByRole('button', { name: 'Confirm the treasury of USDC on Ethereum' }).click();
  const dialog = page.getByRole('dialog', { name: 'Is this treasury yours on Ethereum?' });
  await dialog.getByText('Open this Safe on Ethereum. Do you see it there, with your own signers?').waitFor();
  await dialog.getByText(safe).first().waitFor();
  // After a newer row has come, rows that look the same are as many as before.
  const unclaimed = page.getByRole('table', { name: 'Unclaimed funds' }).locator('tbody tr');
  expect(await unclaimed.count()).toBe(2);
  await addUnclaimed(pages.dashboard, 'third', 2n * 10n ** 18n);
  await dialog.getByRole('button', { name: 'Yes, with my own signers' }).click();
  await prove(page);
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Sweep USDC on Ethereum' }).waitFor();
  await page.getByText('2.00 ETH').waitFor();
  expect(await unclaimed.count()).toBe(3);
  expectNoFaults(watched);
  await watched.close();
});

test('one payment that would not move comes last', async () => {
  const { page, close } = await pages.open('/test/settlement', owner);
  await page.route('**/settlement/plan*', async route => {
    const response = await route.fetch();
    const plan = (await response.json()) as SweepPlan;
    await route.fulfill({ response, json: { ...plan, failing: plan.transactions[0]!.payments.slice(0, 1) } });
  });
  await page.getByRole('button', { name: 'Sweep USDC on Base' }).click();
  await page.getByText(/^One payment would not move now, .* It comes last: pay_\w+\.$/).waitFor();
  await close();
});

test('home counts differences, links to them for those who may look, and calls strays what the filter calls them', async () => {
  const viewer = await pages.open('/test', owner);
  await viewer.page.getByRole('link', { name: '1 difference with the blockchain', exact: true }).waitFor();
  await viewer.page.getByRole('link', { name: '1 wrong token or network (pending)', exact: true }).waitFor();
  expectNoFaults(viewer);
  await viewer.close();

  const support = await pages.open('/test', await pages.dashboard.as('support'));
  await support.page.getByText('difference with the blockchain').waitFor();
  expect(await support.page.getByRole('link', { name: /with the blockchain/ }).count()).toBe(0);
  await support.close();

  const { page, close } = await pages.open('/test', owner);
  for (const [count, text] of [
    [2, '2 differences with the blockchain'],
    [100, '100+ differences with the blockchain'],
  ] as const) {
    await page.route('**/api/home*', async route => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...((await response.json()) as Home), differences: count } });
    });
    await page.reload();
    await page.getByRole('link', { name: text, exact: true }).waitFor();
  }
  await close();
});
