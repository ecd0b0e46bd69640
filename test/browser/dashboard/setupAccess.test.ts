// @module-tag browser
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ordinary } from '../../api/paymentCalls.ts';
import { startReceiver } from '../../deliveries/receiver.ts';
import { eventually } from '../../support/until.ts';
import { expectAccessibleInBoth } from '../axe.ts';
import { expectNoFaults, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages({ env: { FLORIN_ROLES: 'api,watch,deliver' } });
const paths: Record<string, string> = {
  keys: '/test/keys',
  webhooks: '/test/webhooks',
  wallets: '/live/wallets',
  team: '/test/team',
  audit: '/test/audit',
  settings: '/test/settings',
  branding: '/test/branding',
};
const names = [...Object.keys(paths), 'webhook', 'delivery'];

beforeAll(async () => {
  const { dashboard } = pages;
  const owner = await dashboard.as('owner');
  await owner.prove();
  await dashboard.as('viewer');
  await owner.do('POST /keys', { body: { name: 'Shop server', scopes: ['payments:read'] } });
  await owner.do('POST /team/invitations', { body: { email: 'new@shop.example', role: 'support' } });
  const wallets = ['0x52908400098527886E0F7030069857D2E4169EE7', '0x8617E340B3D01FA5F11F306F4090FD50E238070D'];
  for (const treasury of wallets)
    await owner.do('POST /wallets', { environment: 'production', body: { network: 'base', treasury } });
  const receiver = await startReceiver();
  const { endpoint } = await owner.do('POST /webhooks', { body: { url: receiver.url, events: ['*'] } });
  const body = ordinary;
  await dashboard.scene.client.call('POST', '/v1/payments', { key: dashboard.keys.sandbox, body });
  await eventually(async () => expect(receiver.received).toHaveLength(2));
  await receiver.close();
  const params = { id: endpoint.id };
  const { data } = await owner.do('GET /webhooks/:id/deliveries', { params });
  paths.webhook = `/test/webhooks/${endpoint.id}`;
  paths.delivery = `/test/deliveries/${data[0]!.id}`;
});

const settled = async (page: Page): Promise<void> => {
  await page.locator('h1').waitFor();
  await eventually(async () => expect(await page.locator('.loading, .starting').count()).toBe(0));
};

test.each(names)(
  'the page %s has no fault that axe finds, in light and in dark',
  { tags: ['thorough'] },
  async name => {
    const watched = await pages.open(paths[name]!, await pages.dashboard.as('owner'));
    await settled(watched.page);
    await expectAccessibleInBoth(watched);
    expectNoFaults(watched);
    await watched.close();
  },
);

test('no page scrolls sideways at 320 px', { tags: ['thorough'] }, async () => {
  const viewport = { width: 320, height: 640 };
  const watched = await pages.open('/test/keys', await pages.dashboard.as('owner'), { viewport });
  for (const name of names) {
    await watched.page.goto(`${pages.dashboard.url}/dashboard${paths[name]}`);
    await settled(watched.page);
    const width = await watched.page.evaluate('document.documentElement.scrollWidth');
    expect(width, name).toBeLessThanOrEqual(viewport.width);
  }
  await watched.close();
});

const focused = (page: Page): Promise<string> =>
  page.evaluate(`document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`);

test('keys alone lead through pages, dialogs and tabs', async () => {
  const watched = await pages.open('/test/keys', await pages.dashboard.as('owner'));
  const { page } = watched;
  await settled(page);
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await eventually(async () => expect(await focused(page)).not.toBe('Skip to the content'));
  await page.getByRole('button', { name: 'Create a key' }).focus();
  await page.keyboard.press('Enter');
  await eventually(async () => expect(await page.evaluate(`document.activeElement.getAttribute('name')`)).toBe('name'));
  await page.keyboard.press('Escape');
  await eventually(async () => expect(await focused(page)).toBe('Create a key'));

  await page.getByRole('link', { name: 'Webhooks' }).focus();
  await page.keyboard.press('Enter');
  await eventually(async () => expect(await focused(page)).toBe('Webhooks'));
  await page.getByRole('tab', { name: 'Node' }).focus();
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('region', { name: 'Code for Go' }).waitFor();
  expect(await focused(page)).toBe('Go');
  await watched.close();
});
