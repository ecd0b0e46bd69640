// @module-tag browser
import { beforeAll, expect, test } from 'vitest';
import { performed } from '../../announcements/performed.ts';
import { startSmtpReceiver } from '../../mail/smtpReceiver.ts';
import { atEndOfFile } from '../../support/endOfFile.ts';
import { eventually } from '../../support/until.ts';
import { expectNoFaults, useDashboardPages } from './dashboardPages.ts';

const receiver = await startSmtpReceiver();
atEndOfFile(receiver.close);
const pages = useDashboardPages({
  env: {
    FLORIN_ROLES: 'api,watch,deliver',
    FLORIN_SMTP_URL: `smtp://127.0.0.1:${receiver.port}`,
    FLORIN_MAIL_FROM: 'florin@shop.example',
  },
});
beforeAll(async () => {
  await pages.dashboard.as('viewer');
  const { scene, accountId } = pages.dashboard;
  await scene.admin.db.script(`update memberships set created_at = created_at - interval '1 hour'`);
  await performed(scene.admin, accountId, { action: 'person.totp_removed', environment: null });
});

test('security events are on every page until they are dismissed, in this browser only', async () => {
  const viewer = await pages.dashboard.as('viewer');
  const watched = await pages.open('/test/payments', viewer);
  const notices = watched.page.getByLabel('Announcements');
  await notices.getByText('Command line turned off the authenticator app.').waitFor();
  await notices.getByRole('button', { name: 'Dismiss' }).click();
  await notices.waitFor({ state: 'detached' });
  await watched.page.reload();
  await watched.page.getByRole('heading', { name: 'Payments' }).waitFor();
  expect(await notices.count()).toBe(0);

  const other = await pages.open('/live/webhooks', viewer);
  await other.page.getByText('Command line turned off the authenticator app.').waitFor();
  await other.close();

  await performed(pages.dashboard.scene.admin, pages.dashboard.accountId, {
    action: 'secret.revealed',
    environment: 'production',
  });
  await watched.page.reload();
  await notices.getByText('revealed the signing secret').waitFor();
  expect(await notices.getByText('turned off the authenticator app').count()).toBe(0);
  expectNoFaults(watched);
  await watched.close();
});

test('an endpoint can ask for security events', async () => {
  const watched = await pages.open('/test/webhooks', await pages.dashboard.as('developer'));
  const { page } = watched;
  await page.getByRole('button', { name: 'Add an endpoint' }).first().click();
  await page.getByLabel('Selected events').check();
  await page.getByText('Must be selected by name.').waitFor();
  expect(await page.getByLabel('webhook.test').count()).toBe(0);
  expectNoFaults(watched);
  await watched.close();
});

test('an owner sends a test e-mail to themselves', async () => {
  const owner = await pages.dashboard.as('owner');
  const watched = await pages.open('/test/settings', owner);
  await watched.page.getByRole('button', { name: 'Send a test e-mail to me' }).click();
  await watched.page.getByText(`The mail server accepted a message to ${owner.email}.`).waitFor();
  expectNoFaults(watched);
  await watched.close();
});

test('who forgot the password gets a link by mail', async () => {
  const email = (await pages.dashboard.as('owner')).email;
  const watched = await pages.open('/sign-in', null);
  const { page } = watched;
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByText('has a sign-in here').waitFor();
  await eventually(() => expect(receiver.kept.some(({ source }) => source.includes('Set a new password'))).toBe(true));
  expectNoFaults(watched);
  await watched.close();
});
