// @module-tag browser
import { expect, test } from 'vitest';
import { ordinary } from '../../api/paymentCalls.ts';
import { until } from '../../support/until.ts';
import { expectNoFaults, prove, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();
/** One red pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
  'base64',
);

test('settings are saved where they are right, and said to be wrong where they are not', async () => {
  const admin = await pages.dashboard.as('admin');
  const watched = await pages.open('/test/settings', admin);
  const { page } = watched;
  const payments = page.getByRole('form', { name: 'Payments' });
  await payments.getByLabel('Tolerance (percent)').fill('7');
  await payments.getByRole('button', { name: 'Save' }).click();
  await prove(page);
  await payments.locator('.field-error').waitFor();
  await payments.getByLabel('Tolerance (percent)').fill('0.5');
  expect(await payments.getByLabel(/^Automatic/).isChecked()).toBe(true);
  await payments.getByLabel('Review it by hand').check();
  await payments.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  const sandbox = await admin.do('GET /settings', { environment: 'sandbox' });
  expect(sandbox).toMatchObject({ tolerancePercent: '0.50', latePolicy: 'manual' });
  expect(await admin.do('GET /settings', { environment: 'production' })).toMatchObject({ latePolicy: null });
  await payments.getByLabel(/^Automatic/).check();
  await payments.getByRole('button', { name: 'Save' }).click();
  await until(
    () => admin.do('GET /settings', { environment: 'sandbox' }),
    ({ latePolicy }) => latePolicy === null,
  );

  await page.getByRole('button', { name: 'Reveal secret' }).click();
  await page.getByText(/^whsec_[A-Za-z0-9+/]{40,}/).waitFor();
  await watched.close();
});

test('a viewer sees the settings and changes nothing', async () => {
  const watched = await pages.open('/test/settings', await pages.dashboard.as('viewer'));
  await watched.page.getByLabel('Account name').waitFor();
  expect(await watched.page.getByLabel('Account name').isDisabled()).toBe(true);
  expect(await watched.page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  expect(await watched.page.getByRole('button', { name: 'Reveal secret' }).count()).toBe(0);
  await watched.close();
});

test('a brand is seen before it is saved, and by payers once it is', async () => {
  const admin = await pages.dashboard.as('admin');
  await admin.prove();
  const watched = await pages.open('/test/branding', admin);
  const { page } = watched;
  const name = page.getByLabel('Display name');
  await name.fill('Tea\u200b');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.field-error').waitFor();
  const described = (await name.getAttribute('aria-describedby'))!.split(' ').at(-1)!;
  expect(await page.locator(`[id="${described}"]`).textContent()).toContain('characters that cannot be seen');
  expect(await name.getAttribute('aria-invalid')).toBe('true');
  expect(watched.problems.splice(0)).toEqual([expect.stringMatching(/status of 4/)]);
  await name.fill('Tea & Co');
  await page.getByLabel('Use your own colour').check();
  await page.getByLabel('Colour', { exact: true }).fill('#c02060');
  const logo = page.getByLabel('Logo');
  await logo.setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') });
  await page.getByText('Choose a PNG, JPEG or WebP picture.').waitFor();
  await logo.setInputFiles({ name: 'big.png', mimeType: 'image/png', buffer: Buffer.alloc(70_000) });
  await page.getByText('The limit is 64 KiB.').waitFor();
  await logo.setInputFiles({ name: 'no.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
  await page.getByText('cannot show this file as a picture').waitFor();
  await logo.setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: png });
  await page.locator('.preview-logo').first().waitFor();
  expect(await page.locator('.preview-shop').allTextContents()).toEqual(['Tea & Co', 'Tea & Co']);
  const colours = (await page.evaluate(
    `[...document.querySelectorAll('.preview-button')].map(each => getComputedStyle(each).backgroundColor)`,
  )) as string[];
  expect(new Set(colours).size).toBe(2);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();

  const { scene, keys } = pages.dashboard;
  const { json } = await scene.client.call('POST', '/v1/payments', { key: keys.sandbox, body: ordinary });
  const payer = await watched.context.newPage();
  await payer.goto(json.checkoutUrl);
  await payer.getByText('Tea & Co').first().waitFor();
  expect(await payer.locator('img.logo').count()).toBe(1);
  expectNoFaults(watched);
  await watched.close();
});
