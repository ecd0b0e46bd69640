// @module-tag browser
import type { Browser, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { startTestFlorin, type TestFlorin } from '../../support/florin.ts';
import { openBrowser } from '../chromium.ts';
import { newContext, openWatched } from '../watchedPage.ts';
import { expectNoFaults } from './dashboardPages.ts';

let florin: TestFlorin;
let browser: Browser;
beforeAll(async () => {
  florin = await startTestFlorin();
  browser = await openBrowser();
});

/** A whole first run by clicking; on a busy machine it takes longer than other tests. */
const timeoutMs = 180_000;
const password = 'four brown horses at the river';

const expectCommand = async (page: Page, name: string, command: RegExp): Promise<void> => {
  const block = page.getByRole('region', { name, exact: true });
  await block.waitFor();
  expect(await block.isVisible()).toBe(true);
  expect((await block.textContent())!.trim()).toMatch(command);
};

test(
  'the printed link makes an owner, who has a completed test payment a few clicks later',
  async () => {
    const context = await newContext(browser);
    const watched = await openWatched(context);
    const { page } = watched;

    await page.goto(`${florin.florin.dashboardUrl}/dashboard`);
    await page.getByRole('heading', { name: 'Set up Florin' }).waitFor();
    const howTo = (await page.getByRole('main').or(page.locator('.outside-card')).first().textContent())!;
    expect(howTo, 'the page before set-up names both ways to the link').toContain('data/first-run');
    expect(howTo).toContain('npx florin setup-link');

    await page.goto(florin.florin.setupLink!);
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel('Email').fill('ada@shop.example');
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
    await page.getByLabel('Repeat password').fill(`${password}?`);
    await page.getByRole('button', { name: 'Create owner account' }).click();
    await page.getByText('The passwords do not match.').waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('again');
    await page.getByLabel('Repeat password').fill(password);
    await page.getByRole('button', { name: 'Create owner account' }).click();

    await page.getByRole('heading', { name: 'Get started' }).waitFor();
    expect(page.url()).toBe(`${florin.florin.dashboardUrl}/dashboard/test/start`);
    await page.getByRole('button', { name: /^Create (?:a|another) key$/ }).click();
    const key = (await page.locator('.secret-value code').textContent())!;
    const command = (await page.getByRole('region', { name: 'Command', exact: true }).textContent())!;
    expect(command).toContain(`Bearer ${key}`);
    expect(command).toContain('--cacert data/tls/ca.pem');
    expect(command).toContain(`${florin.florin.urls.sandbox}/v1/payments`);

    // What the command sends.
    const body = JSON.parse(/-d '(.*)'/.exec(command)![1]!) as object;
    const made = await florin.client.call('POST', '/v1/payments', { key, body });
    expect(made.status, made.text).toBe(200);

    await page.getByRole('button', { name: 'Pay with test money' }).click();
    await page.getByText('Your first test payment is completed.').waitFor();
    await page.getByRole('link', { name: 'Show payment' }).click();
    await page.getByRole('heading', { name: 'Payment', level: 1 }).waitFor();
    const timeline = page.getByRole('list').filter({ hasText: 'The payment was created.' });
    await timeline.getByText('The payment was completed.').waitFor();
    await timeline.getByText('25.00 USDC arrived.').waitFor();

    await page.goBack();
    await page.getByRole('heading', { name: 'Complete a test payment (done)' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Create a sandbox key (done)' }).waitFor();
    // Steps that are done keep their commands.
    await expectCommand(page, 'Command', /^curl .*sk_test_…/s);
    await expectCommand(page, 'Command to forward events', /^npx florin listen --forward-to http/);
    await expectCommand(page, 'Command to pay', new RegExp(`^npx florin pay ${made.json.id}$`));
    await page.goBack();
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByRole('img', { name: 'Completed volume of USDC on Base per day: 25.00 in total' }).waitFor();
    expectNoFaults(watched);

    // The link has done its work.
    const other = await newContext(browser);
    const late = await openWatched(other);
    await late.page.goto(florin.florin.setupLink!);
    await late.page.getByText('A setup link works once, for one hour.').waitFor();
    await other.close();
    await context.close();
  },
  timeoutMs,
);
