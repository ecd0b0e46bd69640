// @module-tag browser
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ordinary } from '../../api/paymentCalls.ts';
import { expectNoFaults, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();
const count = 30;

beforeAll(async () => {
  const { scene, keys } = pages.dashboard;
  for (let order = 1; order <= count; order++) {
    const body = {
      ...ordinary,
      externalId: `A-${1000 + order}`,
      description: `Chair ${order}`,
      metadata: { hall: 'West' },
    };
    const { status, text } = await scene.client.call('POST', '/v1/payments', { key: keys.sandbox, body });
    expect(status, text).toBe(200);
  }
});

const row = (page: Page, order: string) => page.getByRole('row').filter({ hasText: order });
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true });
const filtered = '?status=pending&offset=25';

test('a row is a link as a whole, and the way back leads to the same list', async () => {
  const watched = await pages.open(`/test/payments${filtered}`, await pages.dashboard.as('owner'));
  const { page, context } = watched;
  const place = `${pages.dashboard.url}/dashboard/test/payments`;
  // Anywhere in the row: on the time at its end, with the middle button in a tab of its own.
  // A browser may hold back a tab in the background.
  const [tab] = await Promise.all([
    context.waitForEvent('page'),
    row(page, 'A-1005').locator('time').click({ button: 'middle', force: true }),
  ]);
  await tab.bringToFront();
  await tab.waitForURL(/\/payments\/pay_\w+$/, { waitUntil: 'commit' });
  await tab.close();
  expect(page.url()).toBe(place + filtered);
  await row(page, 'A-1004').locator('time').click({ force: true });
  await heading(page, 'Payment').waitFor();
  expect(page.url()).toMatch(/\/payments\/pay_\w+$/);
  await page.getByText('Chair 4', { exact: true }).waitFor();
  await page.goBack();
  await row(page, 'A-1004').waitFor();
  expect(page.url()).toBe(place + filtered);
  await row(page, 'A-1003').click();
  await page.getByText('Chair 3', { exact: true }).waitFor();
  await page.reload();
  await page.getByRole('main').getByRole('link', { name: 'Payments', exact: true }).click();
  await row(page, 'A-1004').waitFor();
  expect(page.url()).toBe(place + filtered);
  expectNoFaults(watched);
  await watched.close();
});

test('a row is opened from the keyboard', { tags: ['thorough'] }, async () => {
  const { page, close } = await pages.open('/test/payments', await pages.dashboard.as('owner'));
  await page.getByRole('link', { name: /, Order A-1030$/ }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Chair 30', { exact: true }).waitFor();
  await close();
});

test('part of a text finds payments, and the page says how far a search goes', async () => {
  const { page, close } = await pages.open('/test/payments', await pages.dashboard.as('owner'));
  const search = page.getByRole('searchbox', { name: 'Search' });
  await search.fill('chair 12');
  await page.keyboard.press('Enter');
  await page.getByText('1–1 of 1 payments').waitFor();
  await row(page, 'A-1012').waitFor();
  await search.fill('WEST');
  await page.keyboard.press('Enter');
  await page.getByText(`1–25 of ${count} payments`).waitFor();
  await search.fill('nothing like this');
  await page.keyboard.press('Enter');
  await page.getByText(/in the newest 10,000 payments/).waitFor();
  await close();
});

test('on a phone the first payment is seen at once, and the filters are behind a button that counts them', async () => {
  const options = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  const watched = await pages.open('/test/payments?status=pending', await pages.dashboard.as('owner'), options);
  const { page } = watched;
  const first = row(page, 'A-1030');
  await first.waitFor();
  const box = (await first.boundingBox())!;
  expect(box.y + box.height).toBeLessThanOrEqual(844);
  expect(await page.getByLabel('Status').isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Filters (1)' }).click();
  await page.getByLabel('Status').selectOption('');
  await page.getByLabel('Network').selectOption('base');
  await page.getByLabel('Currency').selectOption('USDC');
  await page.getByRole('button', { name: 'Filters (2)' }).click();
  expect(await page.getByLabel('Status').isVisible()).toBe(false);
  expectNoFaults(watched);
  await watched.close();
});

// The last: what it writes to the database has no seal, and cannot be shown.
test('a search that leaves older payments out says so', { tags: ['thorough'] }, async () => {
  await pages.dashboard.scene.admin.db.script(`insert into payments (account_id, environment, id, amount, decimals, currency,
      network, caip2, address, wallet_kind, treasury, derivation_index, mac, tiers, tolerance_bps, late_policy,
      late_window_seconds, metadata, created_at, expires_at)
    select account_id, environment, 'pay_' || lpad(n::text, 26, '0'), amount, decimals, currency, network, caip2, '0x' || n,
      wallet_kind, treasury, 1000000 + n, mac, tiers, tolerance_bps, late_policy, late_window_seconds, '{}', created_at, expires_at
    from (select * from payments where external_id = 'A-1001') p, generate_series(1, 10000) n`);
  const { page, close } = await pages.open('/test/payments?search=chair+12', await pages.dashboard.as('owner'));
  await row(page, 'A-1012').waitFor();
  await page.getByText('Searched the newest 10,000 payments.').waitFor();
  await close();
});
