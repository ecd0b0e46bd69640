import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkoutAssets } from '../../src/checkout/assets.ts';
import { expectInvalid, paymentCalls } from '../api/paymentCalls.ts';
import { hostileTexts } from '../checkout/hostileTexts.ts';
import { jpeg, png, webps } from '../core/pictures.ts';
import { type DashboardClient, startDashboard, type TestDashboard } from '../support/dashboard.ts';
import type { TestAccount } from '../support/florin.ts';
import { auditRows } from './auditRows.ts';

let dashboard: TestDashboard;
let admin: DashboardClient;
let paymentId: string;
let plain: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  admin = await dashboard.as('admin');
  await admin.prove();
  const account = { id: dashboard.accountId, keys: dashboard.keys } as TestAccount;
  paymentId = (await paymentCalls(dashboard.scene, account).made()).id;
  plain = await page();
});

const get = (path: string, environment: 'sandbox' | 'production' = 'sandbox') =>
  dashboard.scene.client.call('GET', `/checkout/${path}`, { environment });
const page = async (): Promise<string> => (await get(paymentId)).text;
const brand = (branding: object) => admin.call('PATCH /settings', { body: { branding } });
const branded = async (branding: object) => {
  const answer = await brand(branding);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.branding;
};
const nothing = { displayName: null, accentColor: null, logo: null };
const dataUrl = (kind: string, bytes: Buffer): string => `data:image/${kind};base64,${bytes.toString('base64')}`;
const namesOf = (html: string): string[] =>
  [...html.matchAll(/(?:href|src)="assets\/([^"]+)"/g)].map(([, name]) => name!);

test('a page without a brand names the files that it always did, and is the same again without one', async () => {
  const { css, script, icon } = checkoutAssets();
  expect(namesOf(plain)).toEqual([icon.name, css.name, script.name]);
  await branded({ displayName: 'Acme', accentColor: '#ffe600' });
  expect(await page()).not.toBe(plain);
  await branded(nothing);
  expect(await page()).toBe(plain);
});

describe('a display name', () => {
  test('stands in place of the account name', async () => {
    await branded({ displayName: '  Blumen Müller ' });
    const shown = await page();
    expect(shown).toContain('<bdi>Blumen Müller</bdi>');
    expect(shown).toContain('<span class="mark" aria-hidden="true">B</span>');
    expect(shown).not.toContain('<bdi>Test</bdi>');
    expect((await admin.do('GET /settings', { environment: 'production' })).branding).toEqual(nothing);
    await branded(nothing);
  });

  test('breaks out of no page, whatever is in it', { tags: ['thorough'] }, async () => {
    const elements = (html: string) => [...html.matchAll(/<([a-z][a-z0-9]*)/gi)].map(([, name]) => name).join(' ');
    let shown = 0;
    for (const text of hostileTexts) {
      const answer = await brand({ displayName: text.slice(0, 200) });
      if (answer.status !== 200) {
        expectInvalid(answer, 'branding.displayName');
        continue;
      }
      shown += 1;
      expect(elements(await page()), text).toBe(elements(plain));
    }
    expect(shown).toBeGreaterThan(20);
    await branded(nothing);
  });

  test('has no characters that nobody sees', async () => {
    for (const text of ['', '   ', 'A\u202eB', 'A\u200bB', 'A\nB', '\u0000', 'x'.repeat(201)]) {
      const answer = await brand({ displayName: text });
      expect(answer.status, JSON.stringify(text)).toBe(400);
    }
    expect(await page()).toBe(plain);
  });
});

describe('an accent', () => {
  test('comes with the one style sheet of the page', async () => {
    await branded({ accentColor: '#FFE600' });
    const [icon, css, script, ...more] = namesOf(await page());
    expect(more).toEqual([]);
    expect(css).toMatch(/^brand-ffe600-[0-9a-f]{16}\.css$/);
    expect([icon, script]).toEqual([checkoutAssets().icon.name, checkoutAssets().script.name]);
    const style = await get(`assets/${css}`);
    expect(style.headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
    expect(style.text.startsWith(checkoutAssets().css.body.toString())).toBe(true);
    const rules = style.text.slice(checkoutAssets().css.body.length);
    expect(rules).toMatch(/^@media screen\{:root\{--accent:#[0-9a-f]{6};--on-accent:#(?:000000|ffffff);/);
    expect(rules).not.toMatch(/url|@import/);
    expect((await get(`${paymentId}/assets/${css}`)).text).toBe(style.text);
    await branded(nothing);
  });

  test('is asked for by no other name', async () => {
    const wrong = ['brand-ffe600-0000000000000000.css', 'brand-ffe600.css', 'brand-FFE600-0000000000000000.css'];
    for (const name of [...wrong, 'brand-fff;}-0000000000000000.css', 'brand-none-0000000000000000.css']) {
      expect((await get(`assets/${encodeURIComponent(name)}`)).status, name).toBe(404);
    }
  });
});

describe('a logo', () => {
  const pictures = [
    ['png', 'png', png(300, 120)],
    ['jpeg', 'jpg', jpeg(64, 64)],
    ['webp', 'webp', webps.lossless!(512, 512)],
  ] as const;
  test.each(pictures)('as %s is shown beside the name, and as the icon', async (kind, ending, bytes) => {
    const shown = await branded({ logo: dataUrl(kind, bytes) });
    expect(shown.logo).toBe(dataUrl(kind, bytes));
    const html = await page();
    const name = `logo-${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}.${ending}`;
    expect(html).toContain(`<img class="logo" src="assets/${name}" alt="">`);
    expect(html).not.toContain('class="mark"');
    // Icon and picture are the same file, so that a page is still four requests.
    expect(new Set(namesOf(html)).size).toBe(3);
    const file = await dashboard.scene.client.call('GET', `/checkout/assets/${name}`, {
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(file.headers).toMatchObject({ 'content-type': `image/${kind}`, 'x-content-type-options': 'nosniff' });
    expect(file.headers['content-security-policy']).toContain("default-src 'none'");
    expect((await get(`assets/${name}`, 'production')).status).toBe(404);
    expect((await auditRows(dashboard.scene, dashboard.accountId)).at(-1)!.detail).toMatchObject({
      logo: { after: name },
    });
    await branded({ logo: null });
    expect(await page()).toBe(plain);
  });

  test('is of 64 KiB at most, and such a one is served as it was given', async () => {
    const bytes = Buffer.concat([png(1, 1), createHash('sha512').update('x').digest()]);
    const largest = Buffer.concat([bytes, Buffer.alloc(65_536 - bytes.length, 7)]);
    await branded({ logo: dataUrl('png', largest) });
    expectInvalid(await brand({ logo: dataUrl('png', Buffer.concat([largest, Buffer.alloc(1)])) }), 'branding.logo');
    const [, name] = /src="assets\/(logo-[^"]+)"/.exec(await page())!;
    const file = await dashboard.scene.client.call('GET', `/checkout/assets/${name}`, {});
    expect(file.headers['content-length']).toBe('65536');
    await branded(nothing);
  });

  const refused: readonly (readonly [string, string])[] = [
    ['a vector graphic', dataUrl('svg+xml', Buffer.from('<svg/>'))],
    ['a vector graphic that says it is a PNG', dataUrl('png', Buffer.from(`<svg>${' '.repeat(60)}</svg>`))],
    ['a page', dataUrl('png', Buffer.from(`<!doctype html>${' '.repeat(60)}`))],
    ['a GIF', dataUrl('gif', Buffer.from(`GIF89a${'0'.repeat(60)}`))],
    ['a picture larger than a screen', dataUrl('png', png(2_049, 10))],
    ['a picture of no size', dataUrl('png', png(0, 0))],
    ['an address', 'https://evil.example/logo.png'],
    ['text', 'logo'],
    ['nothing', 'data:image/png;base64,'],
  ];
  test.each(refused)('is not %s', async (_, logo) => {
    expectInvalid(await brand({ logo }), 'branding.logo');
    expect(await page()).toBe(plain);
  });
});

test('a page that is open hears of a new name', async () => {
  const main = await get(`${paymentId}/main`);
  await branded({ displayName: 'Acme' });
  const again = await get(`${paymentId}/main`);
  expect(again.headers.etag).not.toBe(main.headers.etag);
  await branded(nothing);
  expect((await get(`${paymentId}/main`)).headers.etag).toBe(main.headers.etag);
});
