import type { Page } from 'playwright-core';
import { ordinary } from '../../api/paymentCalls.ts';
import type { DashboardClient, TestDashboard } from '../../support/dashboard.ts';
import { eventually } from '../../support/until.ts';
import { prove } from './dashboardPages.ts';

const treasuries = ['0x52908400098527886E0F7030069857D2E4169EE7', '0x8617E340B3D01FA5F11F306F4090FD50E238070D'];
type Filled = {
  readonly owner: DashboardClient;
  readonly openId: string;
  readonly underpaidId: string;
  readonly endpointId: string;
};
/** How each dialog is opened, by its title. */
type Dialogs = Readonly<Record<string, (page: Page) => Promise<void>>>;

const press =
  (...names: (string | RegExp)[]) =>
  async (page: Page): Promise<void> => {
    for (const name of names) await page.getByRole('button', { name, exact: true }).first().click();
  };

const treasury = (page: Page) => page.getByRole('textbox', { name: 'Treasury address' });

/** What the dialogs are about. Proven for as long as that takes, and no longer: a dialog asks for it, too. */
export const fillForDialogs = async (
  { scene, keys, newPerson }: TestDashboard,
  owner: DashboardClient,
): Promise<Filled> => {
  await owner.prove();
  await owner.do('POST /keys', { body: { name: 'Shop', scopes: ['payments:read'] } });
  const url = 'http://127.0.0.1:9/hooks';
  const { endpoint } = await owner.do('POST /webhooks', { body: { url, events: ['*'] } });
  const other = await newPerson('owner');
  await other.prove();
  await scene.admin.db.script(`update memberships set owner_since = owner_since - interval '8 days'`);
  for (const each of treasuries)
    await other.do('POST /wallets', { environment: 'production', body: { network: 'base', treasury: each } });
  const make = () => scene.client.call('POST', '/v1/payments', { key: keys.sandbox, body: ordinary });
  const [made, open] = [await make(), await make()];
  const params = { id: made.json.id as string };
  await owner.do('POST /payments/:id/simulate', { params, body: { outcome: 'underpaid' } });
  await eventually(async () => {
    const { payment } = await owner.do('GET /payments/:id', { params });
    if (payment.exception !== 'underpaid') throw new Error('nothing was seen yet');
  });
  await owner.unprove();
  return { owner, openId: open.json.id as string, underpaidId: params.id, endpointId: endpoint.id };
};

/** By the page they are on, in an order in which the proof of the first is good for all. */
export const dialogsOf = ({ owner, openId, underpaidId, endpointId }: Filled): Readonly<Record<string, Dialogs>> => ({
  '/test/settings': { 'Confirm that it is you': press('Reveal secret') },
  '/test/keys': {
    'Create a key': press('Create a key'),
    'Rotate the key': press('Rotate Shop'),
    'Revoke this key?': press(/^Revoke Shop /),
    'Your new key': async page => {
      await press('Create a key')(page);
      await page.getByRole('textbox', { name: 'Name' }).fill('Shown once');
      await press('Create key')(page);
      await prove(page);
    },
  },
  '/test/webhooks': {
    'Add an endpoint': async page => {
      await press('Add an endpoint')(page);
      await page.getByLabel('Selected events').check();
    },
    'Your new endpoint': async page => {
      await press('Add an endpoint')(page);
      await page.getByRole('textbox', { name: 'Endpoint URL' }).fill('http://127.0.0.1:9/other');
      await press('Add and send a test event')(page);
    },
  },
  [`/test/webhooks/${endpointId}`]: {
    'Change the endpoint': press('Change'),
    'Disable this endpoint?': press('Disable'),
    'Delete this endpoint?': press('Delete'),
    'Rotate the secret?': press('Rotate'),
  },
  '/live/settings': { 'Add a second factor first': press('Reveal secret') },
  '/live/wallets': {
    'Set the Polygon wallet': async page => {
      await press('Set the Polygon wallet')(page);
      await page.getByLabel('Extended public key (xpub)').check();
    },
    'Set the Ethereum wallet': async page => {
      await press('Set the Ethereum wallet')(page);
      await treasury(page).fill(treasuries[0]!);
      await press('Preview')(page);
      await page.getByLabel('I found this in my own wallet').waitFor();
    },
    'Is this your own wallet?': press('Verify the Base wallet'),
    'Stop this change?': press('Stop this change'),
    'Approve this change?': press('Approve this change'),
  },
  '/test/team': {
    'Invite a person': press('Invite a person'),
    'Invitation link': async page => {
      await owner.prove();
      await press('Invite a person')(page);
      await page.getByLabel('Email').fill('grace@shop.example');
      await press('Create invitation')(page);
    },
    'Change the role of Owner 1': press('Change the role of Owner 1'),
    'Remove Owner 1?': press('Remove Owner 1'),
  },
  '/test/payments': { 'New payment': press('New payment') },
  [`/test/payments/${openId}`]: { 'Cancel this payment?': press('Cancel payment') },
  [`/test/payments/${underpaidId}`]: { 'Accept the amount received?': press('Accept amount received') },
  '/test/settlement': { Sweep: press(/^Sweep USDC/) },
  '/test/account': {
    'Add a passkey': press('Add a passkey'),
    'Set up authenticator app': press('Set up authenticator app'),
  },
});
