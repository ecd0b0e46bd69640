// @module-tag browser
// @module-tag thorough
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ordinary } from '../../api/paymentCalls.ts';
import { eventually } from '../../support/until.ts';
import { expectAccessibleInBoth } from '../axe.ts';
import { expectNoFaults, useDashboardPages } from './dashboardPages.ts';
import { dialogsOf, fillForDialogs } from './everyDialog.ts';

const pages = useDashboardPages();
const inside: Record<string, string> = {
  home: '/test',
  'home without anything': '/live',
  payments: '/test/payments',
  'payments without any': '/live/payments',
  settlement: '/test/settlement',
  'settlement without anything': '/live/settlement',
  'go live': '/live/go-live',
  'first steps': '/test/start',
  account: '/test/account',
  'no page': '/test/nothing/here',
};
const outside: Record<string, string> = {
  'sign-in': '/sign-in',
  'a dead setup link': '/setup#nothing',
  'a dead invitation': '/invitation#nothing',
  'a dead recovery link': '/recovery#nothing',
};
/** The pages that people look at most; `npm run test:all` looks at the others as well. */
const most = ['home', 'payments', 'payment', 'settlement', 'account', 'sign-in'];
const others = [...Object.keys(inside), ...Object.keys(outside)].filter(name => !most.includes(name));

beforeAll(async () => {
  const { scene, keys, as } = pages.dashboard;
  const made = await scene.client.call('POST', '/v1/payments', { key: keys.sandbox, body: ordinary });
  const owner = await as('owner');
  const params = { id: made.json.id };
  await owner.do('POST /payments/:id/simulate', { params, body: { outcome: 'paid' } });
  await eventually(async () =>
    expect((await owner.do('GET /payments/:id', { params })).payment.status).toBe('completed'),
  );
  inside.payment = `/test/payments/${made.json.id}`;
});

const openNamed = async (name: string, options = {}) => {
  const path = inside[name];
  const watched = path
    ? await pages.open(path, await pages.dashboard.as('owner'), options)
    : await pages.open(outside[name]!, null, options);
  await settled(watched.page);
  return watched;
};

const settled = async (page: Page): Promise<void> => {
  await page.locator('h1').waitFor();
  await page.locator('.loading, .starting').first().waitFor({ state: 'detached' });
};

/** What a dead link answers is reported by the browser, and shown by the page. */
const expectQuiet = (name: string, watched: Parameters<typeof expectNoFaults>[0]): void => {
  const { problems } = watched;
  expectNoFaults(
    name.startsWith('a dead') ? { ...watched, problems: problems.filter(each => !/status of 4/.test(each)) } : watched,
  );
};

/** Of heads of tables that are cards now nothing is seen. */
const cutOff = `[...document.querySelectorAll('main *')]
  .filter(element => element.checkVisibility() && !element.closest('.quiet, .code-scroll, .chart, thead'))
  .filter(element => element.getBoundingClientRect().right > innerWidth + 1)
  .map(element => element.outerHTML.slice(0, 120))`;

const looksRight = async (name: string): Promise<void> => {
  const watched = await openNamed(name);
  const { page } = watched;
  await expectAccessibleInBoth(watched);
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
  expect(await page.evaluate(cutOff)).toEqual([]);
  expectQuiet(name, watched);
  const strangers = watched.requests.filter(request => !request.url().startsWith(`${pages.dashboard.url}/`));
  expect(strangers.map(request => request.url()).filter(url => !url.startsWith('data:'))).toEqual([]);
  await watched.close();
};
const right = '%s: nothing that axe finds or the policy refuses, and nothing cut off at 320 px';
test.each(most)(right, looksRight);
test.each(others)(right, { tags: ['thorough'] }, looksRight);

const stops = `[...document.querySelectorAll('a[href], button, select, input, textarea, summary, [tabindex="0"]')]
  .filter(element => element.type !== 'hidden' && element.tabIndex >= 0 && !element.disabled && element.checkVisibility())
  .map((element, index) => { element.dataset.stop = index; return String(index); })`;

test.each(['payments', 'payment', 'sign-in'])('%s: Tab reaches every control', { tags: ['thorough'] }, async name => {
  const { page, close } = await openNamed(name);
  const all = (await page.evaluate(stops)) as string[];
  expect(all.length).toBeGreaterThan(3);
  const left = new Set(all);
  // A date has a stop for each of its parts, and what scrolls is one by itself.
  for (let step = 0; step < all.length + 20 && left.size > 0; step++) {
    await page.keyboard.press('Tab');
    left.delete(String(await page.evaluate('document.activeElement.dataset.stop')));
  }
  expect([...left]).toEqual([]);
  await close();
});

test('who goes to another page hears its heading, and who goes back, too', async () => {
  const { page, close } = await openNamed('home');
  const focus = (): Promise<unknown> =>
    page.evaluate("document.activeElement.localName + ' ' + document.activeElement.textContent");
  await page.getByRole('link', { name: 'Payments' }).click();
  await eventually(async () => expect(await focus()).toBe('h1 Payments'));
  expect(await page.title()).toBe('Payments · Florin');
  await page.goBack();
  await eventually(async () => expect(await focus()).toBe('h1 Home'));
  expect(await page.title()).toBe('Home · Florin');
  await close();
});

test('the frame and the address tell test from live, and each tab stays in its own', async () => {
  const first = await openNamed('payments');
  const second = await first.context.newPage();
  await second.goto(`${pages.dashboard.url}/dashboard/test/payments`);
  await second.getByRole('link', { name: 'Live', exact: true }).click();
  await second.getByText('No payments yet').waitFor();
  expect(await second.locator('.shell').getAttribute('data-environment')).toBe('production');
  expect(second.url()).toBe(`${pages.dashboard.url}/dashboard/live/payments`);
  await first.page.reload();
  await first.page.getByText(/1–1 of 1 payments/).waitFor();
  expect(await first.page.locator('.shell').getAttribute('data-environment')).toBe('sandbox');
  const colour = (page: Page) =>
    page.locator('.frame').evaluate(frame => Reflect.get(globalThis, 'getComputedStyle')(frame).borderTopColor);
  expect(await colour(first.page)).not.toBe(await colour(second));
  await first.close();
});

test('a chosen theme stays, whatever the device says', { tags: ['thorough'] }, async () => {
  const watched = await openNamed('home', { colorScheme: 'light' });
  const { page } = watched;
  const background = (): Promise<unknown> => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const light = await background();
  await page.locator('.person-menu summary').click();
  await page.getByLabel('Theme').selectOption('dark');
  const dark = await background();
  expect(dark).not.toBe(light);
  await page.reload();
  expect(await background()).toBe(dark);
  await watched.close();
});

test('a server that does not answer is told apart from an empty page, and asked again', {
  tags: ['thorough'],
}, async () => {
  const { page, context, close } = await openNamed('home');
  await context.route('**/dashboard/api/payments?**', route => route.abort());
  await page.getByRole('link', { name: 'Payments' }).click();
  await page.getByText('Florin did not answer.').waitFor();
  await context.unroute('**/dashboard/api/payments?**');
  await page.getByText(/1–1 of 1 payments/).waitFor();
  await close();
});

test('a page in front of an empty chair asks for nothing, and asks again at the first touch', async () => {
  const watched = await pages.open('/sign-in', await pages.dashboard.as('owner'));
  const { page, requests } = watched;
  const asked = (): number => requests.filter(request => request.url().includes('/dashboard/api/')).length;
  await page.clock.install();
  await page.goto(`${pages.dashboard.url}/dashboard${inside.payment}`);
  await settled(page);
  const first = asked();
  await page.clock.runFor(60_000);
  await eventually(async () => expect(asked()).toBeGreaterThan(first));
  await page.clock.runFor(5 * 60_000);
  await page.waitForLoadState('networkidle');
  await page.clock.runFor(60_000);
  await page.waitForLoadState('networkidle');
  const resting = asked();
  await page.clock.runFor(30 * 60_000);
  expect(asked()).toBe(resting);
  await page.keyboard.press('Tab');
  await eventually(async () => expect(asked()).toBeGreaterThan(resting));
  await watched.close();
});

const dialogCut = `[...document.querySelectorAll('dialog[open]')]
  .filter(dialog => dialog.scrollWidth > dialog.clientWidth)
  .map(dialog => dialog.innerText)`;

// The last: it makes payments, which the others count.
test('every dialog: nothing that axe finds, and nothing cut off at 320 px', {
  tags: ['thorough'],
  timeout: 180_000,
}, async () => {
  const owner = await pages.dashboard.newPerson('owner');
  const groups = dialogsOf(await fillForDialogs(pages.dashboard, owner));
  for (const [path, dialogs] of Object.entries(groups)) {
    const watched = await pages.open(path, owner);
    const { page } = watched;
    for (const [title, openDialog] of Object.entries(dialogs)) {
      await openDialog(page);
      const dialog = page.getByRole('dialog', { name: title });
      await dialog.waitFor();
      await dialog.locator('.loading').waitFor({ state: 'detached' });
      await expectAccessibleInBoth(watched);
      await page.setViewportSize({ width: 320, height: 640 });
      expect(await page.evaluate(dialogCut), title).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      await page.setViewportSize({ width: 1280, height: 720 });
      await page.emulateMedia({ colorScheme: 'light' });
    }
    expectNoFaults(watched);
    await watched.close();
  }
});
