// @module-tag browser
import { expect, test } from 'vitest';
import { ordinary } from '../../api/paymentCalls.ts';
import { eventually } from '../../support/until.ts';
import type { Payment } from '../checkoutScene.ts';
import { expectNoFaults, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();

const make = async (fields: object = {}): Promise<Payment> => {
  const { scene, keys } = pages.dashboard;
  const body = { ...ordinary, ...fields };
  const { status, text, json } = await scene.client.call('POST', '/v1/payments', { key: keys.sandbox, body });
  expect(status, text).toBe(200);
  return json;
};

/** Simulates a payer and waits for what becomes of the payment. */
const simulate = async (id: string, outcome: string, isDone: (answer: Answered) => boolean): Promise<void> => {
  const owner = await pages.dashboard.as('owner');
  const params = { id };
  await owner.do('POST /payments/:id/simulate', { params, body: { outcome } });
  await eventually(async () => expect(isDone(await owner.do('GET /payments/:id', { params }))).toBe(true));
};
type Answered = { payment: Record<string, unknown>; strays: readonly unknown[] };
const isCompleted = ({ payment }: Answered): boolean => payment.status === 'completed';

test('cancel is offered while nothing has arrived, and no longer then', async () => {
  const payment = await make();
  const { page, close } = await pages.open(`/test/payments/${payment.id}`, await pages.dashboard.as('owner'));
  await page.getByRole('button', { name: 'Cancel payment' }).waitFor();
  expect(await page.getByRole('button', { name: 'Accept amount received' }).count()).toBe(0);
  await simulate(payment.id, 'underpaid', answer => answer.payment.exception === 'underpaid');
  await page.getByRole('button', { name: 'Accept amount received' }).waitFor();
  await page.getByText('Pending', { exact: true }).waitFor();
  await page.getByText('The payment completes after 2 confirmations.').waitFor();
  expect(await page.getByRole('button', { name: 'Cancel payment' }).count()).toBe(0);
  await close();
});

test('a treasury that nothing was swept to is called a treasury', { tags: ['thorough'] }, async () => {
  const payment = await make();
  const { page, close } = await pages.open(`/test/payments/${payment.id}`, await pages.dashboard.as('owner'));
  await page.getByRole('term').filter({ hasText: 'Treasury' }).waitFor();
  expect(await page.getByText('Swept to').count()).toBe(0);
  await close();
});

test('confirmations are counted up to those that are needed', async () => {
  const payment = await make();
  await simulate(payment.id, 'paid', isCompleted);
  // The local chain mines when something happens.
  for (let blocks = 0; blocks < 3; blocks++) await simulate((await make()).id, 'paid', isCompleted);
  const { page, close } = await pages.open(`/test/payments/${payment.id}`, await pages.dashboard.as('owner'));
  const counts = page.getByText(/\d+ of \d+/);
  await counts.first().waitFor();
  const texts = await counts.allTextContents();
  expect(texts.map(text => /(\d+) of (\d+)/.exec(text)!.slice(1, 3)).filter(([shown, all]) => shown !== all)).toEqual(
    [],
  );
  // In the lead of the card, and beside the transaction.
  expect(texts).toHaveLength(2);
  await close();
});

test('a wrong token is named in the list, its filter, on the payment and on the home page', async () => {
  const payment = await make({ externalId: 'wrong-1' });
  await make({ externalId: 'right-1' });
  await simulate(payment.id, 'wrong_token', ({ strays }) => strays.length > 0);
  const watched = await pages.open('/test/payments', await pages.dashboard.as('owner'));
  const { page } = watched;
  const row = page.getByRole('row').filter({ hasText: 'wrong-1' });
  await row.getByText('Wrong token or network', { exact: true }).waitFor();
  await page.getByLabel('Issue').selectOption({ label: 'Wrong token or network' });
  await page.getByText('right-1').waitFor({ state: 'detached' });
  await row.click();
  await page.getByText('Wrong token or network.').waitFor();
  await page.getByText(/^1\.00 \w+ on Base/).waitFor();
  await page.goto(`${pages.dashboard.url}/dashboard/test`);
  await page.locator('a[href*="exception=wrong_token"]').click();
  await row.waitFor();
  expect(new URL(page.url()).search).toBe('?status=pending&exception=wrong_token');
  expectNoFaults(watched);
  await watched.close();
});

test('a tab is named by its payment', async () => {
  const payment = await make({ amount: '1250', externalId: '1042', description: 'A chair' });
  const { page, close } = await pages.open(`/test/payments/${payment.id}`, await pages.dashboard.as('viewer'));
  await eventually(async () => expect(await page.title()).toBe('1,250.00 USDC · Order 1042 – Florin'));
  await close();
});

test('times are those of the viewer, with their zone', async () => {
  const payment = await make({ externalId: 'zoned' });
  const options = { timezoneId: 'Asia/Kolkata' };
  const { page, close } = await pages.open('/test/payments', await pages.dashboard.as('viewer'), options);
  const atMs = Date.parse(payment.createdAt);
  const clock = new Date(atMs + 5.5 * 3_600_000).toISOString().slice(11, 19);
  const time = page.getByRole('row').filter({ hasText: 'zoned' }).locator('time');
  expect(await time.textContent()).toMatch(new RegExp(`, ${clock} GMT\\+5:30$`));
  expect(await time.getAttribute('title')).toContain(`${new Date(atMs).toISOString().slice(11, 19)} UTC`);
  await page.goto(`${pages.dashboard.url}/dashboard/test/payments/${payment.id}`);
  await page.locator('.facts time').first().waitFor();
  for (const place of ['.facts time', '.timeline time']) {
    expect(await page.locator(place).first().textContent(), place).toMatch(/ GMT\+5:30$/);
  }
  await close();
});
