// @module-tag browser
import { expect, test } from 'vitest';
import { createRecoveryLink } from '../../../src/engine/access/recovery.ts';
import { testPassword } from '../../support/dashboard.ts';
import { addTotp } from '../../support/secondFactor.ts';
import { eventually } from '../../support/until.ts';
import { prove, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();

const otherAccount = async (name: string) => {
  const { id } = await pages.dashboard.scene.account({ name });
  const owner = await pages.dashboard.newPerson('owner', id);
  await owner.prove();
  return { id, owner };
};

test('somebody with a sign-in joins a second account with it, and switches between the two', async () => {
  const { owner } = await otherAccount('Second shop');
  const person = await pages.dashboard.newPerson('developer');
  const { link } = await owner.do('POST /team/invitations', { body: { email: person.email, role: 'finance' } });
  const { page, close } = await pages.open(`/invitation#${link.split('#')[1]}`, null);
  await page.getByRole('button', { name: 'I already have a sign-in' }).click();
  await page.getByRole('textbox', { name: 'Password' }).fill(testPassword);
  await page.getByRole('button', { name: 'Join the team', exact: true }).click();
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  const menu = page.locator('.person-menu');
  await menu.locator('summary').click();
  const account = menu.getByRole('combobox', { name: 'Account' });
  expect(await account.locator('option:checked').textContent()).toBe('Second shop (Finance)');
  await account.selectOption({ label: 'Test (Developer)' });
  await eventually(async () => {
    const state = await page.evaluate(async () => (await fetch('/dashboard/api/session')).json());
    expect(state).toMatchObject({ person: { role: 'developer' }, account: { name: 'Test' } });
  });
  await page.getByRole('link', { name: 'API keys' }).waitFor();
  await close();
});

test('removing a member asks what becomes of the keys that they made', async () => {
  const { id, owner } = await otherAccount('Keys');
  const developer = await pages.dashboard.newPerson('developer', id);
  await developer.prove();
  await developer.do('POST /keys', { body: { name: 'Till', scopes: ['payments:read'] } });
  const { recoveryCodes } = await addTotp(owner);
  await owner.unprove();
  const { page, close } = await pages.open('/test/team', owner);
  await page.getByRole('button', { name: /^Remove Developer/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('listitem').filter({ hasText: 'Till' }).waitFor();
  expect(await dialog.getByRole('radio', { name: 'Revoke them' }).isChecked()).toBe(true);
  await dialog.getByRole('button', { name: 'Remove from the team' }).click();
  await prove(page, recoveryCodes[0]);
  await page.getByText('was removed.').waitFor();
  const { data } = await owner.do('GET /keys');
  expect(data.find(key => key.name === 'Till')).toMatchObject({ status: 'revoked' });
  await close();
});

test('a recovery link is announced until it opens, and then sets a new password', async () => {
  const { id, owner } = await otherAccount('Recovered');
  const { admin } = pages.dashboard.scene;
  const other = await pages.dashboard.newPerson('owner', id);
  const { token } = await createRecoveryLink(admin, other.email);
  const mine = await pages.open('/test', owner);
  await mine.page.getByText(`${other.email} can set a new password`).waitFor();
  await mine.close();
  const early = await pages.open(`/recovery#${token}`, null);
  await early.page.getByText('This link opens on').waitFor();
  await early.close();
  await admin.db.script(`update recovery_links set opens_at = clock_timestamp() where person_id = '${other.personId}'`);
  const { page, close } = await pages.open(`/recovery#${token}`, null);
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill('one more quiet river');
  await page.getByLabel('Repeat password').fill('one more quiet river');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByRole('heading', { name: 'My account', level: 1 }).waitFor();
  await close();
});
