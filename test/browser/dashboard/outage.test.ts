// @module-tag browser
import type { BrowserContext, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { testPassword } from '../../support/dashboard.ts';
import { useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();

const everything = '**/*';
const goDown = (context: BrowserContext): Promise<unknown> =>
  context.route(everything, route => route.abort('connectionrefused'));
const comeBack = (context: BrowserContext): Promise<void> => context.unroute(everything);

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });
/** Gone as soon as the page is loaded anew. */
const mark = (page: Page): Promise<unknown> => page.evaluate('globalThis.wasHere = true');
const isMarked = (page: Page): Promise<unknown> => page.evaluate('globalThis.wasHere === true');
const lost = 'No connection to Florin. Trying again…';

test('a page that is opened during an outage comes by itself, file and data, without loading anew', {
  tags: ['thorough'],
}, async () => {
  const { page, context, close } = await pages.open('/test', await pages.dashboard.as('owner'));
  await heading(page, 'Home').waitFor();
  await mark(page);
  await goDown(context);
  await page.getByRole('link', { name: 'Payments' }).click();
  await page.getByText(lost).waitFor();
  expect(await heading(page, 'Payments').count()).toBe(0);
  await comeBack(context);
  await heading(page, 'Payments').waitFor();
  await page.getByText('No payments yet').waitFor();
  await page.getByText(lost).waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Home' }).click();
  await heading(page, 'Home').waitFor();
  await goDown(context);
  await page.getByRole('link', { name: 'Team' }).click();
  await page.getByText(lost).waitFor();
  // Back to a page whose file is there: what it shows is old, and it says so.
  await page.getByRole('link', { name: 'Payments' }).click();
  await heading(page, 'Payments').waitFor();
  await page.getByText('Florin did not answer.').waitFor();
  await comeBack(context);
  await page.getByText('Florin did not answer.').waitFor({ state: 'detached' });
  await page.getByText(lost).waitFor({ state: 'detached' });
  expect(await isMarked(page)).toBe(true);
  await close();
});

test('a proxy that answers for a server that is down is an outage, too', { tags: ['thorough'] }, async () => {
  const { page, context, close } = await pages.open('/test', await pages.dashboard.as('owner'));
  await heading(page, 'Home').waitFor();
  await context.route(everything, route =>
    route.fulfill({ status: 502, contentType: 'text/html', body: 'Bad gateway' }),
  );
  await page.getByRole('link', { name: 'Team' }).click();
  await page.getByText(lost).waitFor();
  await comeBack(context);
  await heading(page, 'Team').waitFor();
  await page.getByText(lost).waitFor({ state: 'detached' });
  await close();
});

test('a file that a new version took away is said to be gone', async () => {
  const { page, context, close } = await pages.open('/test', await pages.dashboard.as('owner'));
  await heading(page, 'Home').waitFor();
  await context.route('**/assets/**', route => route.fulfill({ status: 404, body: '' }));
  await page.getByRole('link', { name: 'Team' }).click();
  await page.getByText(/Florin may have been updated/).waitFor();
  await close();
});

test('a session that is lost says why on the sign-in page', async () => {
  const person = await pages.dashboard.newPerson('support');
  const { page, close } = await pages.open('/test/payments', person);
  await heading(page, 'Payments').waitFor();
  const other = pages.dashboard.stranger();
  await other.do('POST /sign-in', { body: { email: person.email, password: testPassword } });
  await other.do('POST /me/sessions/end-others');
  await page.getByLabel('Status').selectOption('pending');
  await heading(page, 'Sign in').waitFor();
  await page.getByText('This session was ended from another device.').waitFor();
  await close();

  const idle = await pages.dashboard.newPerson('support');
  await pages.dashboard.scene.admin.db.script(
    `update sessions set last_seen_at = last_seen_at - interval '1 hour' where person_id = '${idle.personId}'`,
  );
  const late = await pages.open('/test/payments', idle);
  await late.page.getByText('You were signed out after 30 minutes without activity.').waitFor();
  await late.close();

  const gone = await pages.open('/test/payments', await pages.dashboard.newPerson('support'));
  await heading(gone.page, 'Payments').waitFor();
  await gone.context.clearCookies();
  await gone.page.getByLabel('Status').selectOption('pending');
  await gone.page.getByText('Your session ended. It expired, or you signed out in another tab.').waitFor();
  await gone.close();
});

test('who signs out after a lost session is not told of the lost one again', { tags: ['thorough'] }, async () => {
  const person = await pages.dashboard.newPerson('support');
  const { page, context, close } = await pages.open('/test/payments', person);
  await heading(page, 'Payments').waitFor();
  await context.clearCookies();
  await page.getByLabel('Status').selectOption('pending');
  await page.getByText('Your session ended.').waitFor();
  await page.getByLabel('Email').fill(person.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(testPassword);
  await page.getByRole('button', { name: 'Continue' }).click();
  await heading(page, 'Payments').waitFor();
  await page.locator('.person-menu summary').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await heading(page, 'Sign in').waitFor();
  await page.getByLabel('Email').waitFor();
  expect(await page.locator('.notice').count()).toBe(0);
  await close();
});

test('who has not been signed in, or signs out, is told of no lost session', { tags: ['thorough'] }, async () => {
  const stranger = await pages.open('/sign-in', null);
  await heading(stranger.page, 'Sign in').waitFor();
  expect(await stranger.page.locator('.notice').count()).toBe(0);
  await stranger.close();
  const { page, close } = await pages.open('/test/payments', await pages.dashboard.newPerson('support'));
  await page.locator('.person-menu summary').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await heading(page, 'Sign in').waitFor();
  await page.getByLabel('Email').waitFor();
  expect(await page.locator('.notice').count()).toBe(0);
  await close();
});
