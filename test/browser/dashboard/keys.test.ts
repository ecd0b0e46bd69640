// @module-tag browser
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually } from '../../support/until.ts';
import { expectNoFaults, prove, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();

const statusWith = async (key: string): Promise<number> =>
  (await pages.dashboard.scene.client.call('GET', '/v1/payments', { key })).status;
const shownKey = async (page: Page): Promise<string> =>
  (await page.getByRole('dialog').locator('.secret-value code').textContent())!;
const stored = (page: Page) => page.getByRole('button', { name: 'I stored it' }).click();

test('a key is created with proof, works, is rotated with an overlap, and is refused once revoked', async () => {
  const developer = await pages.dashboard.as('developer');
  const watched = await pages.open('/test/keys', developer);
  const { page } = watched;

  await page.getByRole('button', { name: 'Create a key' }).first().click();
  await page.getByLabel('Name').fill('Shop server');
  await page.getByRole('button', { name: 'Create key' }).click();
  await prove(page);
  const first = await shownKey(page);
  expect(first).toMatch(/^sk_test_/);
  expect(await page.getByRole('region', { name: 'Example call' }).textContent()).toContain(first);
  expect(await statusWith(first)).toBe(200);
  await stored(page);
  expect(await page.content()).not.toContain(first);

  // Proven a moment ago, so nobody asks again.
  await page.getByRole('button', { name: 'Rotate Shop server' }).click();
  await page.getByLabel('1 hour').check();
  await page.getByRole('button', { name: 'Create new key' }).click();
  const second = await shownKey(page);
  expect(second).not.toBe(first);
  expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200]);
  await stored(page);
  await page.getByRole('cell', { name: 'Rotating' }).waitFor();

  // The hour passes.
  await pages.dashboard.scene.admin.db.script(
    `update api_keys set expires_at = clock_timestamp() - interval '1 second' where successor_id is not null`,
  );
  await eventually(async () => expect(await statusWith(first)).toBe(401));
  expect(await statusWith(second)).toBe(200);

  await page
    .getByRole('row', { name: /Shop server.*Active/ })
    .getByRole('button', { name: /^Revoke/ })
    .click();
  const asking = page.getByRole('dialog', { name: 'Revoke this key?' });
  expect(await asking.textContent()).toContain('within a second');
  await asking.getByRole('button', { name: 'Revoke key' }).click();
  await asking.waitFor({ state: 'hidden' });
  await eventually(async () => expect(await statusWith(second)).toBe(401));

  const actions = (await (await pages.dashboard.as('owner')).do('GET /audit')).data.map(({ action }) => action);
  expect(actions).toEqual(expect.arrayContaining(['key.created', 'key.rotated', 'key.revoked']));
  expectNoFaults(watched);
  await watched.close();
});

test('a key with no overlap ends its predecessor at once, and what the server refuses is said at its field', {
  tags: ['thorough'],
}, async () => {
  const developer = await pages.dashboard.newPerson('developer');
  await developer.prove();
  const { key } = await developer.do('POST /keys', { body: { name: 'Leaked', scopes: ['payments:read'] } });
  const watched = await pages.open('/test/keys', developer);
  const { page } = watched;
  await page.getByRole('button', { name: 'Rotate Leaked' }).click();
  await page.getByLabel('It stops at once').check();
  await page.getByRole('button', { name: 'Create new key' }).click();
  expect(await statusWith(await shownKey(page))).toBe(200);
  await eventually(async () => expect(await statusWith(key)).toBe(401));
  await stored(page);

  await page.getByRole('button', { name: 'Create a key' }).first().click();
  await page.getByLabel('Name').fill('From nowhere');
  await page.getByLabel('Allowed IP addresses').fill('not an address');
  await page.getByRole('button', { name: 'Create key' }).click();
  const field = page.getByLabel('Allowed IP addresses');
  await eventually(async () => expect(await field.getAttribute('aria-invalid')).toBe('true'));
  expect(await page.evaluate('document.activeElement.name')).toBe('ipAllow');
  await watched.close();
});

test('who may not see keys has no such page', async () => {
  const watched = await pages.open('/test/keys', await pages.dashboard.as('finance'));
  await watched.page.getByText('This page does not exist').waitFor();
  expect(await watched.page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
  await watched.close();
});
