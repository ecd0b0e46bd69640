// @module-tag browser
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectAccessibleInBoth } from '../axe.ts';
import { expectNoFaults, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages({ takesFirstAccount: true });
const hoursAgo = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();

/** The record as the schedule writes it. */
const record = (lastHours: number | null, failingHours: number | null): Promise<void> =>
  writeFile(
    join(pages.dashboard.scene.config.dataDir, 'backups.json'),
    JSON.stringify({
      schedule: { hours: 24, since: hoursAgo(500) },
      last: lastHours === null ? null : { backupAt: hoursAgo(lastHours), file: 'a', bytes: 1 },
      failing: failingHours === null ? null : { since: hoursAgo(failingHours), reason: 'full' },
    }),
  );

const openHome = async (width: number, seen: string) => {
  const watched = await pages.open('/live', await pages.dashboard.as('owner'), { viewport: { width, height: 900 } });
  await watched.page.getByText(seen).waitFor();
  await expectAccessibleInBoth(watched);
  expect(await watched.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  return watched;
};

test('home says when the last backup succeeded', async () => {
  await record(5, null);
  const watched = await openHome(1_280, 'Last backup:');
  const card = watched.page.locator('.card', { has: watched.page.getByRole('heading', { name: 'Backups' }) });
  expect(await card.getByText('OK', { exact: true }).count()).toBe(1);
  expect(await card.locator('time').count()).toBe(1);
  expectNoFaults(watched);
  await watched.close();
});

test('home says at the top that backups fail, and what to do, on a narrow screen too', async () => {
  await record(null, 40);
  const watched = await openHome(320, 'Backups need attention.');
  const notice = watched.page.locator('.notice', { hasText: 'Backups need attention.' });
  expect(await notice.textContent()).toMatch(
    /No backup has succeeded yet\. Attempts have failed since .+\. Run npx florin doctor on the server/,
  );
  expect(await watched.page.getByRole('heading', { name: 'Backups' }).count()).toBe(0);
  expectNoFaults(watched);
  await watched.close();
});

test('home of somebody who may not see them says nothing of backups', async () => {
  const watched = await pages.open('/live', await pages.dashboard.as('viewer'));
  await watched.page.getByRole('heading', { name: 'Networks' }).waitFor();
  expect(await watched.page.getByText('backup').count()).toBe(0);
  expectNoFaults(watched);
  await watched.close();
});
