// @module-tag browser
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { type DashboardClient, testPassword } from '../../support/dashboard.ts';
import { addTotp } from '../../support/secondFactor.ts';
import { eventually } from '../../support/until.ts';
import { prove, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();
const [own, stolen, next] = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
] as const;
const newPassword = 'a river that nobody knows';

let owner: DashboardClient;
let second: DashboardClient;
/** Recovery codes: of the owner, and of the second one. */
let codes: string[];
let secondCodes: string[];
beforeAll(async () => {
  owner = await pages.dashboard.as('owner');
  second = await pages.dashboard.newPerson('owner');
  await owner.prove();
  await second.prove();
  ({ recoveryCodes: codes } = await addTotp(owner));
  ({ recoveryCodes: secondCodes } = await addTotp(second));
  await pages.dashboard.scene.admin.db.script(`set local session_replication_role = replica;
    update memberships set owner_since = owner_since - interval '8 days';
    update audit_log set at = at - interval '8 days'`);
  await owner.do('POST /wallets', { environment: 'production', body: { network: 'base', treasury: own } });
  await owner.unprove();
  await second.unprove();
});

const signIn = async (page: Page, password: string, who: DashboardClient = owner): Promise<void> => {
  await page.getByLabel('Email').fill(who.email);
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
  await page.getByRole('button', { name: 'Continue' }).click();
};

const go = (page: Page, path: string) => page.goto(`${pages.dashboard.url}/dashboard${path}`);

const previewWallet = async (page: Page, treasury: string): Promise<void> => {
  await page.getByRole('button', { name: 'Change the Base wallet' }).click();
  await page.getByRole('textbox', { name: 'Treasury address' }).fill(treasury);
  await page.getByRole('button', { name: 'Preview' }).click();
};

const askForWallet = async (page: Page, treasury: string): Promise<void> => {
  await go(page, '/live/wallets');
  await previewWallet(page, treasury);
  await page.getByText('The change takes effect after 24 hours.').waitFor();
  await page.getByLabel('I found this in my own wallet').check();
  await page.getByRole('button', { name: 'Request the change' }).click();
  await page.getByRole('button', { name: 'Stop this change' }).waitFor();
};

const changePassword = async (page: Page): Promise<void> => {
  await go(page, '/live/account');
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(newPassword);
  await page.getByLabel('Repeat password').fill(newPassword);
  await page.getByRole('button', { name: 'Change password' }).click();
};

const stopChange = async (page: Page): Promise<void> => {
  await page.getByRole('link', { name: 'Review the change' }).click();
  await page.getByRole('button', { name: 'Stop this change' }).click();
  await page.getByRole('button', { name: 'Stop the change' }).click();
  await page.getByRole('button', { name: 'Change the Base wallet' }).waitFor();
};

const held = /owners and how they sign in cannot change\. Stop the wallet change under Wallets first/;

test('a thief with a phished password and code gets neither the wallet nor the sign-in, and is put out', {
  tags: ['thorough'],
}, async () => {
  const thief = await pages.open('/sign-in', null);
  await signIn(thief.page, testPassword);
  await thief.page.getByRole('button', { name: 'Use a recovery code' }).click();
  await thief.page.getByLabel('Recovery code').fill(codes[0]!);
  await thief.page.getByRole('button', { name: 'Sign in' }).click();
  await thief.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await askForWallet(thief.page, stolen);

  await go(thief.page, '/live/team');
  await thief.page.getByRole('button', { name: /^Remove Owner/ }).click();
  await thief.page.getByRole('dialog').getByRole('button', { name: 'Remove from the team' }).click();
  await thief.page.getByRole('dialog').getByText(held).waitFor();
  await changePassword(thief.page);
  await thief.page.getByText(held).waitFor();

  const honest = await pages.open('/test', owner);
  await honest.page.getByText('the owners and how they sign in stay as they are.').waitFor();
  await stopChange(honest.page);

  await go(thief.page, '/live/wallets');
  await previewWallet(thief.page, next);
  await thief.page
    .getByRole('dialog')
    .getByText(/or a wallet change was stopped\. Request the change after/)
    .waitFor();

  await changePassword(honest.page);
  await prove(honest.page, codes[1]);
  await honest.page.getByText('Password changed.').waitFor();

  await go(thief.page, '/live/wallets');
  await signIn(thief.page, testPassword);
  await thief.page.getByText('The e-mail address or the password is wrong.').waitFor();
  const { data } = await owner.do('GET /wallets', { environment: 'production' });
  expect(data.find(({ network }) => network === 'base')).toMatchObject({ destination: own, pending: null });
  await thief.close();
  await honest.close();
});

test('another owner compares a change with who requested it, and approves it', async () => {
  // A day after the password changed and the change was stopped.
  await pages.dashboard.scene.admin.db.script(`set local session_replication_role = replica;
    update audit_log set at = at - interval '1 day'; update wallet_stops set stopped_at = stopped_at - interval '1 day'`);
  await owner.prove();
  const body = { network: 'base', treasury: next };
  await owner.do('POST /wallets', { environment: 'production', body });
  const mine = await pages.open('/live/wallets', owner);
  await mine.page.getByRole('button', { name: 'Stop this change' }).waitFor();
  expect(await mine.page.getByRole('button', { name: 'Approve this change' }).count()).toBe(0);

  const other = await pages.open('/live/team', second);
  await other.page.getByRole('link', { name: 'Review the change' }).click();
  await other.page.getByRole('button', { name: 'Approve this change' }).click();
  await other.page.getByText('in person or by phone').waitFor();
  await other.page.getByRole('button', { name: 'Approve the change' }).click();
  await prove(other.page, secondCodes[0]);
  await other.page.getByText(/^Approved by Owner/).waitFor();
  await eventually(async () =>
    expect(await other.page.getByRole('button', { name: 'Approve this change' }).count()).toBe(0),
  );
  await eventually(async () =>
    expect(await other.page.getByText('the owners and how they sign in stay as they are').count()).toBe(0),
  );
  await mine.close();
  await other.close();
});

test('a thief who locks the only owner out is put out again, and the wallet change is stopped', async () => {
  const { scene } = pages.dashboard;
  const { id } = await scene.account({ name: 'Alone' });
  const thief = await pages.dashboard.newPerson('owner', id);
  await thief.prove();
  const { recoveryCodes } = await addTotp(thief);
  const passDays = (days: number) =>
    scene.admin.db.script(`set local session_replication_role = replica;
      update audit_log set at = at - interval '${days} days' where account_id = '${id}';
      update people set earlier_until = earlier_until - interval '${days} days' where id = '${thief.personId}'`);
  await thief.do('POST /wallets', { environment: 'production', body: { network: 'base', treasury: own } });
  await passDays(8);
  await thief.do('DELETE /me/totp');
  await thief.do('POST /me/password', { body: { password: newPassword } });
  await passDays(1);
  await thief.do('POST /wallets', { environment: 'production', body: { network: 'base', treasury: stolen } });

  const account = await pages.open('/live/account', thief);
  await account.page.getByText('the way you signed in before works, too').waitFor();
  const { page, close } = await pages.open('/sign-in', null);
  await signIn(page, testPassword, thief);
  await page.getByText('The e-mail address or the password is wrong.').waitFor();
  await page.getByRole('button', { name: 'My sign-in was changed' }).click();
  await page.getByText('This undoes the change and ends all other sessions.').waitFor();
  await signIn(page, testPassword, thief);
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(recoveryCodes[0]!);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await stopChange(page);
  await account.page.reload();
  await account.page.getByText('This session was ended from another device.').waitFor();
  await close();
  await account.close();
});
