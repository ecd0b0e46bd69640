import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { loadConfig } from '../../src/cli/config.ts';
import { startFlorin } from '../../src/cli/florin.ts';
import { silentLog } from '../../src/core/log.ts';
import { findBrowser, howToGetBrowser } from '../../test/support/findBrowser.ts';

/** Takes the pictures of the README from a Florin that was just started: `npm run pictures`. */

const folder = fileURLToPath(new URL('.', import.meta.url));
const viewport = { width: 1120, height: 760 };
const orders = [
  { amount: '25.00', currency: 'USDC', network: 'base', description: 'Two tickets', externalId: 'order-1042' },
  { amount: '120.00', currency: 'USDT', network: 'ethereum', description: 'Annual plan', externalId: 'order-1043' },
  { amount: '9.99', currency: 'USDC', network: 'polygon', description: 'E-book', externalId: 'order-1044' },
  { amount: '0.05', currency: 'ETH', network: 'arbitrum', description: 'Workshop', externalId: 'order-1045' },
];

const room = await mkdtemp(join(tmpdir(), 'florin-pictures-'));
await chmod(room, 0o755);
const path = findBrowser();
if (path === null) throw new Error(`The pictures need a browser. Get one with: ${howToGetBrowser()}`);
const env = { FLORIN_PORT: '0', FLORIN_SANDBOX_PORT: '0' };
const florin = await startFlorin(await loadConfig({ env, cwd: room }), silentLog);
const browser = await chromium.launch({ executablePath: path, chromiumSandbox: false });
try {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-US', viewport });
  const page = await context.newPage();
  const headers = { authorization: `Bearer ${florin.firstRun!.key}` };
  const sandbox = florin.urls.sandbox;
  const create = async (data: object) =>
    (await (await context.request.post(`${sandbox}/v1/payments`, { headers, data })).json()) as {
      id: string;
      checkoutUrl: string;
      status: string;
    };
  const waitForStatus = async (id: string, status: string): Promise<void> => {
    const read = async () =>
      (await (await context.request.get(`${sandbox}/v1/payments/${id}`, { headers })).json()).status;
    while ((await read()) !== status) await page.waitForTimeout(200);
  };
  const picture = async (name: string, shown: Page): Promise<void> => {
    await shown.mouse.move(0, 0);
    await shown.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
    console.log(`docs/pictures/${name}.png`);
  };

  await page.goto(florin.setupLink!);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Email').fill('ada@shop.example');
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill('four brown horses at the river');
  await page.getByLabel('Repeat password').fill('four brown horses at the river');
  await page.getByRole('button', { name: 'Create owner account' }).click();
  await page.getByRole('heading', { name: 'Get started' }).waitFor();

  const settings = `${florin.dashboardUrl}/dashboard/api/settings?environment=sandbox`;
  const branded = await context.request.patch(settings, {
    headers: { origin: florin.dashboardUrl, 'sec-fetch-site': 'same-origin' },
    data: { branding: { displayName: 'Acme Tickets' } },
  });
  if (!branded.ok()) throw new Error(`the name was refused: ${await branded.text()}`);

  const paid: string[] = [];
  for (const order of orders) {
    const { id } = await create(order);
    await context.request.post(`${sandbox}/v1/sandbox/payments/${id}/simulate`, { headers, data: { outcome: 'paid' } });
    paid.push(id);
  }
  for (const id of paid) await waitForStatus(id, 'completed');

  const { checkoutUrl } = await create({ ...orders[0], externalId: 'order-1046' });
  const checkout = await context.newPage();
  await checkout.goto(checkoutUrl);
  await checkout.locator('[data-qr]').waitFor();
  await picture('checkout', checkout);

  await page.goto(`${florin.dashboardUrl}/dashboard/test/payments/${paid[0]}`);
  await page.getByText('The payment was completed.').waitFor();
  await picture('payment', page);
  await page.goto(`${florin.dashboardUrl}/dashboard/test?days=7`);
  await page.getByRole('img').first().waitFor();
  await picture('home', page);
} finally {
  await browser.close();
  await florin.stop();
  await rm(room, { recursive: true, force: true });
}
