// @module-tag browser
import { expect, test } from 'vitest';
import { addTotp } from '../../support/secondFactor.ts';
import { eventually } from '../../support/until.ts';
import { expectNoFaults, prove, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();
const [first, second] = ['0x52908400098527886E0F7030069857D2E4169EE7', '0x8617E340B3D01FA5F11F306F4090FD50E238070D'];
/** Of the second test vector of BIP-32. */
const xpub =
  'xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB';

test('the first wallet is in force at once; a change waits, is announced everywhere, and is stopped', async () => {
  const owner = await pages.dashboard.as('owner');
  await owner.prove();
  const { recoveryCodes } = await addTotp(owner);
  await owner.unprove();
  // For a day after a sign-in changed, no wallet does.
  await pages.dashboard.scene.admin.db.script(`set local session_replication_role = replica;
    update audit_log set at = at - interval '2 days'`);
  const watched = await pages.open('/live/wallets', owner);
  const { page } = watched;
  await page.getByRole('button', { name: 'Set the Base wallet' }).click();
  await page.getByRole('textbox', { name: 'Treasury address' }).fill(first!);
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('first wallet for this network').waitFor();
  await page.getByLabel('I found this in my own wallet').check();
  await page.getByRole('button', { name: 'Use this wallet' }).click();
  await prove(page, recoveryCodes[0]);
  await page.getByRole('button', { name: 'Change the Base wallet' }).waitFor();
  await page.getByRole('button', { name: 'Verify the Base wallet' }).waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Change the Base wallet' }).click();
  await page.getByRole('textbox', { name: 'Treasury address' }).fill(second!);
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('The change takes effect after 24 hours.').waitFor();
  await page.getByText('It applies to new payments only.').waitFor();
  await page.getByLabel('I found this in my own wallet').check();
  await page.getByRole('button', { name: 'Request the change' }).click();
  await page.getByText(/h \d+ min left|24 h 0 min left/).waitFor();
  const unchanged = await owner.do('GET /wallets', { environment: 'production' });
  expect(unchanged.data.find(({ network }) => network === 'base')).toMatchObject({ destination: first });

  const other = await pages.open('/test/webhooks', await pages.dashboard.as('viewer'));
  await other.page.getByText('requested a change of the live wallet for Base').waitFor();
  await other.page.getByRole('link', { name: 'Review the change' }).click();
  await other.page.getByText('Requested by Owner 1').waitFor();
  expect(await other.page.getByRole('button', { name: 'Stop this change' }).count()).toBe(0);
  await other.close();

  await page.getByRole('button', { name: 'Stop this change' }).click();
  await page.getByRole('button', { name: 'Stop the change' }).click();
  await page.getByRole('button', { name: 'Change the Base wallet' }).waitFor();
  await eventually(async () => expect(await page.getByRole('link', { name: 'Review the change' }).count()).toBe(0));
  const { data } = await owner.do('GET /audit');
  expect(data.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['wallet.set', 'wallet.verified', 'wallet.change_requested', 'wallet.change_stopped']),
  );
  expectNoFaults(watched);
  await watched.close();
});

test('an extended public key shows its addresses before and after', async () => {
  const admin = await pages.dashboard.as('admin');
  await admin.prove();
  const watched = await pages.open('/live/wallets', admin);
  const { page } = watched;
  await page.getByRole('button', { name: 'Set the Polygon wallet' }).click();
  await page.getByLabel('Extended public key (xpub)').check();
  await page.getByLabel('Extended public key', { exact: true }).fill(xpub);
  await page.getByRole('button', { name: 'Preview' }).click();
  const addresses = page.getByRole('dialog').locator('.address-list code');
  await addresses.first().waitFor();
  const derived = await addresses.allTextContents();
  expect(derived).toHaveLength(5);
  await page.getByRole('button', { name: 'Use this wallet' }).click();
  await page.getByRole('button', { name: 'Verify the Polygon wallet' }).click();
  expect(await page.getByRole('dialog').locator('.address-list code').allTextContents()).toEqual(derived);
  await page.getByRole('button', { name: 'I found it in my wallet' }).click();
  await page.getByRole('button', { name: 'Verify the Polygon wallet' }).waitFor({ state: 'detached' });
  await watched.close();
});

test('what looks like a seed or a private key never leaves the browser', async () => {
  const watched = await pages.open('/live/wallets', await pages.dashboard.as('owner'));
  const { page } = watched;
  await page.getByRole('button', { name: 'Set the Ethereum wallet' }).click();
  const field = page.getByRole('textbox', { name: 'Treasury address' });
  const secrets = [
    `0x${'4c'.repeat(32)}`,
    'legal winner thank year wave sausage worth useful legal winner thank yellow',
  ];
  for (const secret of secrets) {
    await field.fill(secret);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('nothing was sent').waitFor();
    await field.fill('');
  }
  expect(watched.requests.filter(each => each.method() === 'POST')).toEqual([]);

  await field.fill('0x0000000000000000000000000000000000000000');
  await page.getByRole('button', { name: 'Preview' }).click();
  await eventually(async () => expect(await field.getAttribute('aria-invalid')).toBe('true'));
  await watched.close();
});
