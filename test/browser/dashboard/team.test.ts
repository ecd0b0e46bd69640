// @module-tag browser
import { expect, test } from 'vitest';
import { roles } from '../../../src/core/access/rights.ts';
import { testPassword } from '../../support/dashboard.ts';
import { addTotp } from '../../support/secondFactor.ts';
import { eventually } from '../../support/until.ts';
import { expectNoFaults, prove, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();

test('somebody is invited by a link, joins in another browser, and gets another role', async () => {
  const owner = await pages.dashboard.as('owner');
  await owner.prove();
  const { recoveryCodes } = await addTotp(owner);
  await owner.unprove();
  const mine = await pages.open('/test/team', owner);
  await mine.page.getByRole('button', { name: 'Invite a person' }).click();
  await mine.page.getByLabel('Email').fill('grace@shop.example');
  await mine.page.getByLabel('Support', { exact: true }).check();
  await mine.page.getByRole('button', { name: 'Create invitation' }).click();
  await prove(mine.page, recoveryCodes[0]);
  const link = (await mine.page.locator('.secret-value code').textContent())!;
  await mine.page.getByRole('button', { name: 'Done' }).click();
  await mine.page.getByRole('button', { name: 'Withdraw the invitation for grace@shop.example' }).waitFor();

  const theirs = await pages.open('/sign-in', null);
  await theirs.page.goto(link);
  await theirs.page.getByLabel('Your name').fill('Grace Hopper');
  await theirs.page.getByRole('textbox', { name: 'Password', exact: true }).fill(testPassword);
  await theirs.page.getByLabel('Repeat password').fill(testPassword);
  await theirs.page.getByRole('button', { name: 'Join' }).click();
  await theirs.page.getByRole('link', { name: 'Payments' }).waitFor();
  expect(await theirs.page.getByRole('link', { name: 'API keys' }).count()).toBe(0);

  await mine.page.reload();
  await mine.page.getByRole('button', { name: 'Change the role of Grace Hopper' }).click();
  await mine.page.getByLabel('Developer', { exact: true }).check();
  await mine.page.getByRole('button', { name: 'Change role', exact: true }).click();
  await eventually(async () => {
    const row = mine.page.getByRole('row', { name: /Grace Hopper/ });
    expect(await row.textContent()).toContain('Developer');
  });

  // Their session ended with the role that it had.
  await theirs.page.reload();
  await theirs.page.getByLabel('Email').fill('grace@shop.example');
  await theirs.page.getByRole('textbox', { name: 'Password' }).fill(testPassword);
  await theirs.page.getByRole('button', { name: 'Continue' }).click();
  await theirs.page.getByRole('link', { name: 'API keys' }).waitFor();
  await theirs.close();

  await mine.page.getByRole('link', { name: 'Audit log' }).click();
  await mine.page.getByText('changed the role of grace@shop.example from Support to Developer.').waitFor();
  await mine.page.getByText('invited grace@shop.example to the team as Support.').waitFor();
  await mine.page.getByLabel('Action').selectOption('invitation.created');
  await mine.page.getByText('changed the role of grace@shop.example').waitFor({ state: 'hidden' });
  await mine.page.getByText('invited grace@shop.example to the team as Support.').click();
  expect(await mine.page.getByRole('region', { name: 'Details' }).textContent()).toContain('"role": "support"');
  expectNoFaults(mine);
  await mine.close();
});

test('an admin makes no owners and does not touch them; the last owner stays', { tags: ['thorough'] }, async () => {
  const admin = await pages.open('/test/team', await pages.dashboard.as('admin'));
  await admin.page.getByRole('table', { name: 'Members' }).waitFor();
  expect(await admin.page.getByRole('button', { name: /Remove Owner/ }).count()).toBe(0);
  await admin.page.getByRole('button', { name: 'Invite a person' }).click();
  expect(await admin.page.getByRole('radio').count()).toBe(roles.length - 1);
  await admin.close();

  const owner = await pages.dashboard.as('owner');
  await owner.prove();
  const watched = await pages.open('/test/team', owner);
  await watched.page.getByRole('button', { name: 'Change the role of Owner 1' }).click();
  await watched.page.getByLabel('Viewer', { exact: true }).check();
  await watched.page.getByRole('button', { name: 'Change role', exact: true }).click();
  await watched.page.getByText('An account must have an owner.').waitFor();
  await watched.close();
});

test('older rows of the audit log come when they are asked for', { tags: ['thorough'] }, async () => {
  const owner = await pages.dashboard.as('owner');
  await owner.prove();
  for (let count = 0; count < 55; count++) await owner.do('PATCH /me', { body: { name: `Owner number ${count}` } });
  const watched = await pages.open('/test/audit?action=person.renamed', owner);
  const rows = watched.page.getByText('changed their name to');
  await rows.first().waitFor();
  expect(await rows.count()).toBe(50);
  await watched.page.getByRole('button', { name: 'Show older entries' }).click();
  await watched.page.getByText(/changed their name to “Owner number 0”\.$/).waitFor();
  expect(await rows.count()).toBe(55);
  expect(await watched.page.getByRole('button', { name: 'Show older entries' }).count()).toBe(0);
  await watched.close();
});
