import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestFlorin, type TestFlorin } from '../../support/florin.ts';
import { launchChromium } from '../chromium.ts';
import { newContext, openWatched } from '../watchedPage.ts';
import { expectNoFaults } from './dashboardPages.ts';

let florin: TestFlorin;
let browser: Browser;
beforeAll(async () => {
  florin = await startTestFlorin();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await florin.stop();
});

/** A whole first run by clicking; on a busy machine it takes longer than other tests. */
const timeoutMs = 180_000;
const password = 'four brown horses at the river';

test(
  'the printed link makes an owner, who has a completed test payment a few clicks later',
  async () => {
    const context = await newContext(browser);
    const watched = await openWatched(context);
    const { page } = watched;

    await page.goto(`${florin.florin.dashboardUrl}/dashboard`);
    await page.getByRole('heading', { name: 'Nobody owns this Florin yet' }).waitFor();

    await page.goto(florin.florin.setupLink!);
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel('Email').fill('ada@shop.example');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByLabel('Repeat the password').fill(`${password}?`);
    await page.getByRole('button', { name: 'Create the owner' }).click();
    await page.getByText('The two passwords are not the same.').waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('again');
    await page.getByLabel('Repeat the password').fill(password);
    await page.getByRole('button', { name: 'Create the owner' }).click();

    await page.getByRole('heading', { name: 'Get started' }).waitFor();
    expect(page.url()).toBe(`${florin.florin.dashboardUrl}/dashboard/test/start`);
    await page.getByRole('button', { name: /^Make (?:a|another) key$/ }).click();
    const key = (await page.locator('.secret-value code').textContent())!;
    const command = (await page.getByRole('region', { name: 'Command' }).textContent())!;
    expect(command).toContain(`Bearer ${key}`);
    expect(command).toContain('--cacert data/tls/ca.pem');
    expect(command).toContain(`${florin.florin.urls.sandbox}/v1/payments`);

    // What the command sends.
    const body = JSON.parse(/-d '(.*)'/.exec(command)![1]!) as object;
    const made = await florin.client.call('POST', '/v1/payments', { key, body });
    expect(made.status, made.text).toBe(200);

    await page.getByRole('button', { name: 'Pay it with test money' }).click();
    await page.getByText('Your first test payment is complete.').waitFor();
    await page.getByRole('link', { name: 'Show the timeline' }).click();
    await page.getByRole('heading', { name: 'Payment', level: 1 }).waitFor();
    const timeline = page.getByRole('list').filter({ hasText: 'The payment was created.' });
    await timeline.getByText('The payment was completed.').waitFor();
    await timeline.getByText('25.00 USDC arrived.').waitFor();
    await timeline.getByText('Ada Lovelace simulated a payer on the local chain.').waitFor();

    await page.goBack();
    await page.goBack();
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByRole('img', { name: 'Completed volume of USDC on Base per day: 25.00 in total' }).waitFor();
    expectNoFaults(watched);

    // The link has done its work.
    const other = await newContext(browser);
    const late = await openWatched(other);
    await late.page.goto(florin.florin.setupLink!);
    await late.page.getByText('A setup link works once.').waitFor();
    await other.close();
    await context.close();
  },
  timeoutMs,
);
