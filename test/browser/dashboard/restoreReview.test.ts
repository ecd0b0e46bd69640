// @module-tag browser
import { expect, test } from 'vitest';
import { declareRestored } from '../../../src/engine/chain/restores.ts';
import { setWallet } from '../../support/operator.ts';
import { addTotp } from '../../support/secondFactor.ts';
import { expectAccessibleInBoth } from '../axe.ts';
import { expectNoFaults, prove, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();
const treasury = '0x52908400098527886E0F7030069857D2E4169EE7';
const notice = 'This account was restored from a backup. Review it to open production.';
const open = 'Everything is as it should be. Open production';

test('after a restore, every page says so, and an owner opens production on the page of the review', async () => {
  const { dashboard } = pages;
  const { scene, accountId } = dashboard;
  const owner = await dashboard.as('owner');
  const developer = await dashboard.as('developer');
  await owner.prove();
  const { recoveryCodes } = await addTotp(owner);
  const live = { environment: 'production' } as const;
  await owner.do('POST /webhooks', { ...live, body: { url: 'https://shop.example/hook' } });
  await owner.do('POST /team/invitations', { body: { email: 'guest@example.com', role: 'viewer' } });
  await owner.unprove();
  await setWallet(scene.admin, { accountId, ...live }, 'base', { treasury });
  await declareRestored(scene.admin, { most: 0 });

  const other = await pages.open('/test/payments', developer);
  await other.page.getByText(notice).waitFor();
  await other.page.getByRole('link', { name: 'Review the account' }).click();
  await other.page.getByText('Only an owner can open production.').waitFor();
  expect(await other.page.getByRole('button', { name: open }).count()).toBe(0);
  expectNoFaults(other);
  await other.close();

  const finance = await pages.open('/live/restore-review', await dashboard.as('finance'));
  await finance.page.getByRole('heading', { name: 'Live wallets' }).waitFor();
  expect(await finance.page.getByRole('heading', { name: 'Live API keys' }).count()).toBe(0);
  expectNoFaults(finance);
  await finance.close();

  const watched = await pages.open('/test/restore-review', owner);
  const { page } = watched;
  const keys = page.getByRole('table', { name: 'Live API keys' });
  await keys.getByText('sk_live_').waitFor();
  await page.getByRole('table', { name: 'Test API keys' }).getByText('sk_test_').waitFor();
  await page.getByRole('table', { name: 'Members' }).getByText(developer.email).waitFor();
  await page.getByRole('table', { name: 'Invitations' }).getByText('guest@example.com').waitFor();
  await page.getByRole('table', { name: 'Live wallets' }).getByText(treasury).waitFor();
  await page.getByRole('table', { name: 'Live webhook endpoints' }).getByText('https://shop.example/hook').waitFor();
  const linkOf = (name: string) => page.getByRole('link', { name }).getAttribute('href');
  expect(await linkOf('Change live keys')).toBe('/dashboard/live/keys');
  expect(await linkOf('Change test keys')).toBe('/dashboard/test/keys');
  expect(await linkOf('Change wallets')).toBe('/dashboard/live/wallets');
  await expectAccessibleInBoth(watched);
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
  await page.setViewportSize({ width: 1280, height: 720 });

  await page.getByRole('button', { name: open }).click();
  await prove(page, recoveryCodes[0]);
  await page.getByText('Nothing to review').waitFor();
  expect(await page.getByText(notice).count()).toBe(0);
  expect((await owner.do('GET /announcements')).restoredAt).toBeNull();
  expectNoFaults(watched);
  await watched.close();
});
