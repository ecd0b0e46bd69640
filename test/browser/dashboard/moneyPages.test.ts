// @module-tag browser
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { callRpc } from '../../../src/chains/evm/rpc.ts';
import { ordinary } from '../../api/paymentCalls.ts';
import { eventually } from '../../support/until.ts';
import type { Payment } from '../checkoutScene.ts';
import { createTestWallet } from '../testWallet.ts';
import { expectNoFaults, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();
let ask: (method: string, params: readonly unknown[]) => Promise<unknown>;
beforeAll(async () => {
  const { dataDir } = pages.dashboard.scene.config;
  const { port } = JSON.parse(await readFile(join(dataDir, 'devchain.json'), 'utf8')) as { port: number };
  ask = (method, params) => callRpc(`http://127.0.0.1:${port}`, method, params);
});

const make = async (fields: object = {}): Promise<Payment> => {
  const { scene, keys } = pages.dashboard;
  const body = { ...ordinary, ...fields };
  const { status, text, json } = await scene.client.call('POST', '/v1/payments', { key: keys.sandbox, body });
  expect(status, text).toBe(200);
  return json;
};

const heading = { name: 'Payment', level: 1, exact: true } as const;

test('payments are found by filters and by search, which the address keeps', async () => {
  const [first, second] = [await make({ description: 'The red one' }), await make({ description: 'The blue one' })];
  const owner = await pages.dashboard.as('owner');
  await owner.do('POST /payments/:id/cancel', { params: { id: second.id } });
  const watched = await pages.open('/test/payments', owner);
  const { page } = watched;
  await page.getByText('The red one').waitFor();
  await page.getByLabel('Status').selectOption('canceled');
  await page.getByText('The red one').waitFor({ state: 'detached' });
  await page.getByText(/1–1 of 1 payments/).waitFor();
  expect(new URL(page.url()).search).toBe('?status=canceled');
  await page.reload();
  await page.getByText('The blue one').waitFor();
  const exported = new URL((await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href'))!, page.url());
  expect(Object.fromEntries(exported.searchParams)).toEqual({ environment: 'sandbox', status: 'canceled' });

  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('searchbox', { name: 'Search' }).fill(first.address);
  await page.keyboard.press('Enter');
  await page.getByText('The blue one').waitFor({ state: 'detached' });
  await page.getByText('The red one').waitFor();
  await page.getByRole('searchbox', { name: 'Search' }).fill('nothing-like-this');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('No matching payments').waitFor();
  expectNoFaults(watched);
  await watched.close();
});

test('a file of payments is saved', async () => {
  const payment = await make();
  const { page, close } = await pages.open('/test/payments', await pages.dashboard.as('finance'));
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export CSV' }).click(),
  ]);
  expect(await readFile((await download.path())!, 'utf8')).toContain(payment.id);
  await close();
});

test('a search says why there is no file of it', { tags: ['thorough'] }, async () => {
  const { page, close } = await pages.open('/test/payments?search=nothing', await pages.dashboard.as('owner'));
  await page.getByText('Search results cannot be exported.').waitFor();
  expect(await page.getByRole('link', { name: 'Export CSV' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('link', { name: 'Export CSV' }).waitFor();
  await close();
});

test('a payment is made, half paid, and accepted as it is', async () => {
  const { page, close } = await pages.open('/test/payments', await pages.dashboard.as('admin'));
  await page.getByRole('button', { name: 'New payment' }).click();
  const dialog = page.getByRole('dialog', { name: 'New payment' });
  await dialog.getByLabel('Amount').fill('not a number');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.locator('.field-error').waitFor();
  expect(await dialog.getByLabel('Amount').getAttribute('aria-invalid')).toBe('true');
  await dialog.getByLabel('Amount').fill('40');
  await dialog.getByLabel('Description').fill('Two chairs');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', heading).waitFor();
  await page.getByText('Two chairs').waitFor();
  await page.getByLabel('Simulate a payer').selectOption('underpaid');
  await page.getByRole('button', { name: 'Simulate', exact: true }).click();
  await page.getByRole('button', { name: 'Accept amount received' }).click();
  await page.getByRole('button', { name: 'Accept as full payment' }).click();
  await page.getByText(/accepted the amount received as full payment/).waitFor();
  await page.getByText('The payment was completed.').waitFor();
  await close();
});

test('a payment is cancelled after a question, and whoever may not is not asked', async () => {
  const payment = await make();
  const viewer = await pages.open(`/test/payments/${payment.id}`, await pages.dashboard.as('viewer'));
  await viewer.page.getByText('The payment was created.').waitFor();
  expect(await viewer.page.getByRole('button', { name: 'Cancel payment' }).count()).toBe(0);
  await viewer.close();
  const { page, close } = await pages.open(`/test/payments/${payment.id}`, await pages.dashboard.as('support'));
  await page.getByRole('button', { name: 'Cancel payment' }).click();
  await page.getByRole('button', { name: 'Keep payment' }).click();
  await page.getByRole('button', { name: 'Cancel payment' }).click();
  await page.getByRole('button', { name: 'Yes, cancel payment' }).click();
  await page.getByText('The payment was canceled.').waitFor();
  await page.getByRole('button', { name: 'Cancel payment' }).waitFor({ state: 'detached' });
  await close();
});

test("a person's own wallet sweeps what has arrived, and the page sees it land", async () => {
  const payment = await make({ network: 'ethereum', amount: '77' });
  const owner = await pages.dashboard.as('owner');
  const params = { id: payment.id };
  await owner.do('POST /payments/:id/simulate', { params, body: { outcome: 'paid' } });
  await eventually(async () =>
    expect((await owner.do('GET /payments/:id', { params })).payment.status).toBe('completed'),
  );
  const wallet = createTestWallet(ask);
  const watched = await pages.open('/test/settlement', owner);
  const { page } = watched;
  await wallet.install(page);
  // Signing waits for the name of the chain, which messages about the wallet need.
  const [planned, named] = [page.waitForResponse('**/settlement/plan*'), Promise.withResolvers<void>()];
  await page.route('**/networks*', route => named.promise.then(() => route.continue()));
  await page.reload();
  await page.getByRole('button', { name: 'Sweep USDC on Ethereum' }).click();
  await planned.then(response => response.finished());
  await page.evaluate('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
  expect(await page.getByRole('button', { name: 'Sign with Test wallet' }).count()).toBe(0);
  named.resolve();
  const known = [...wallet.known];
  wallet.known.clear();
  await page.getByRole('button', { name: 'Sign with Test wallet' }).click();
  await page.getByText('does not know Ethereum (local dev chain) (chain ID 31337). Add this network').waitFor();
  for (const chainId of known) wallet.known.add(chainId);
  wallet.refused.add('eth_sendTransaction');
  await page.getByRole('button', { name: 'Sign with Test wallet' }).click();
  await page.getByText('The transaction was rejected in the wallet. Nothing was sent.').waitFor();
  wallet.refused.clear();
  // What was sent and could not be written down is written down next time, and not sent twice.
  await page.route('**/settlement/sweeps*', route => route.fulfill({ status: 500, body: '' }), { times: 1 });
  await page.getByRole('button', { name: 'Sign with Test wallet' }).click();
  await page.getByText('1 of 1 sent').waitFor();
  await page.getByRole('dialog').getByRole('alert').waitFor();
  expect(watched.problems.splice(0)).toEqual([expect.stringMatching(/status of 500/)]);
  await page.getByRole('button', { name: 'Sign with Test wallet' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  // Refused once, and sent once.
  expect(wallet.asked().filter(method => method === 'eth_sendTransaction')).toHaveLength(2);
  await page.getByRole('table', { name: 'Sweeps' }).getByText('77.00 USDC').waitFor();
  // The local chain mines when something happens.
  await make({ network: 'ethereum' }).then(({ id }) =>
    owner.do('POST /payments/:id/simulate', { params: { id }, body: { outcome: 'paid' } }),
  );
  await page.getByRole('table', { name: 'Sweeps' }).getByText('Landed', { exact: true }).last().waitFor();
  expectNoFaults(watched);
  await watched.close();
});
