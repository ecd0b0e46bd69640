import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectError, expectInvalid, paymentCalls } from '../api/paymentCalls.ts';
import { type DashboardClient, startDashboard, type TestDashboard } from '../support/dashboard.ts';
import type { TestAccount } from '../support/florin.ts';
import { until } from '../support/until.ts';
import { auditRows } from './auditRows.ts';

let dashboard: TestDashboard;
let admin: DashboardClient;
beforeAll(async () => {
  dashboard = await startDashboard();
  admin = await dashboard.as('admin');
});
beforeEach(() => admin.prove());

const change = (body: object) => admin.call('PATCH /settings', { body });
const shown = (environment: 'sandbox' | 'production' = 'sandbox') => admin.do('GET /settings', { environment });
const audited = () => auditRows(dashboard.scene, dashboard.accountId);

type Terms = { tolerance_bps: number; late_policy: string; late_window_seconds: number };
const termsOf = async (id: string): Promise<Terms> => {
  const text = 'select tolerance_bps, late_policy, late_window_seconds from payments where id = $1';
  return (await dashboard.scene.admin.db.query<Terms>({ name: 'test-terms', text }, [id]))[0]!;
};
const payments = () => paymentCalls(dashboard.scene, { id: dashboard.accountId, keys: dashboard.keys } as TestAccount);

test('a new account has the defaults, and its plan and limits are shown', async () => {
  expect(await shown('production')).toEqual({
    accountName: 'Test',
    plan: 'enterprise',
    limits: { perMinute: 10_000_000, burst: 10_000_000 },
    tolerancePercent: '0.00',
    latePolicy: null,
    lateWindowDays: 30,
    checkoutOrigins: [],
    supportContact: null,
    branding: { displayName: null, accentColor: null, logo: null },
  });
});

test('terms are those of new payments alone, and of one environment', async () => {
  const old = await payments().made();
  const answer = await change({ tolerancePercent: '0.5', latePolicy: 'manual', lateWindowDays: 7 });
  expect(answer.json, answer.text).toMatchObject({ tolerancePercent: '0.50', latePolicy: 'manual', lateWindowDays: 7 });
  expect(await shown('production')).toMatchObject({ tolerancePercent: '0.00', latePolicy: null });
  const terms = { tolerance_bps: 50, late_policy: 'manual', late_window_seconds: 604_800 };
  // Callers are cached for half a second.
  await until(
    async () => termsOf((await payments().made()).id),
    latest => JSON.stringify(latest) === JSON.stringify(terms),
  );
  expect(await termsOf(old.id)).toEqual({ tolerance_bps: 0, late_policy: 'accept', late_window_seconds: 2_592_000 });
  expect((await audited()).at(-1)).toEqual({
    action: 'settings.changed',
    subject: null,
    environment: 'sandbox',
    actor: 'Admin 2 <admin2@example.com>',
    detail: {
      tolerancePercent: { before: '0.00', after: '0.50' },
      latePolicy: { before: null, after: 'manual' },
      lateWindowDays: { before: 30, after: 7 },
    },
  });
});

test('origins, the contact and the name are kept as they are written everywhere', async () => {
  const answer = await change({
    accountName: '  Acme  ',
    checkoutOrigins: ['HTTPS://Shop.example/', 'https://shop.example'],
    supportContact: 'help@Acme.example',
  });
  expect(answer.json, answer.text).toMatchObject({
    accountName: 'Acme',
    checkoutOrigins: ['https://shop.example'],
    supportContact: 'help@acme.example',
  });
  expect((await shown('production')).accountName).toBe('Acme');
  expect((await change({ supportContact: null, checkoutOrigins: [] })).json).toMatchObject({
    supportContact: null,
    checkoutOrigins: [],
  });
});

test('what changes nothing is no row of the audit log', async () => {
  const rows = (await audited()).length;
  const { branding: _branding, plan: _plan, limits: _limits, ...same } = await shown();
  expect((await change(same)).status).toBe(200);
  expect((await change({})).status).toBe(200);
  expect(await audited()).toHaveLength(rows);
});

describe('all or nothing: nothing is changed where a part is refused', () => {
  test.each([
    ['tolerancePercent', { tolerancePercent: '5.01' }],
    ['tolerancePercent', { tolerancePercent: '0.005' }],
    ['tolerancePercent', { tolerancePercent: '-1' }],
    ['tolerancePercent', { tolerancePercent: 'much' }],
    ['latePolicy', { latePolicy: 'never' }],
    ['lateWindowDays', { lateWindowDays: -1 }],
    ['lateWindowDays', { lateWindowDays: 1.5 }],
    ['lateWindowDays', { lateWindowDays: 3_651 }],
    ['checkoutOrigins', { checkoutOrigins: ['https://shop.example/path'] }],
    ['checkoutOrigins', { checkoutOrigins: ['https://*.example'] }],
    ['checkoutOrigins', { checkoutOrigins: Array.from({ length: 21 }, (_, i) => `https://s${i}.example`) }],
    ['supportContact', { supportContact: 'javascript:alert(1)' }],
    ['accountName', { accountName: '  ' }],
    ['accountName', { accountName: 'Ac\u202eme' }],
    ['accountName', { accountName: 'x'.repeat(201) }],
    ['branding.accentColor', { branding: { accentColor: 'red' } }],
    ['branding.logo', { branding: { logo: 'data:image/svg+xml;base64,PHN2Zz4=' } }],
    ['plan', { plan: 'enterprise' }],
  ])('%s: %o', async (param, body) => {
    const [before, rows] = [await shown(), (await audited()).length];
    expectInvalid(await change({ ...body, ...('latePolicy' in body ? {} : { latePolicy: 'accept' }) }), param);
    expect(await shown()).toEqual(before);
    expect(await audited()).toHaveLength(rows);
  });
});

test('the secret of callbacks is revealed after a proof, and audited', async () => {
  const developer = await dashboard.as('developer');
  const refused = await developer.call('POST /settings/callback-secret/reveal');
  expectError(refused, 403, 'permission_denied', 'proof');
  await developer.prove();
  const sandbox = await developer.do('POST /settings/callback-secret/reveal');
  const production = await developer.do('POST /settings/callback-secret/reveal', { environment: 'production' });
  expect(sandbox.secret).toMatch(/^whsec_/);
  expect(production.secret).not.toBe(sandbox.secret);
  const rows = (await audited()).slice(-2);
  expect(rows.map(({ action, subject, environment }) => [action, subject, environment])).toEqual([
    ['secret.revealed', 'callbackUrl', 'sandbox'],
    ['secret.revealed', 'callbackUrl', 'production'],
  ]);
  expect(JSON.stringify(rows)).not.toContain('whsec_');
});

test('who may not manage settings sees them and changes nothing', async () => {
  for (const role of ['developer', 'finance', 'support', 'viewer'] as const) {
    const person = await dashboard.as(role);
    expect((await person.call('GET /settings')).status).toBe(200);
    expectError(await person.call('PATCH /settings', { body: { lateWindowDays: 1 } }), 403, 'permission_denied');
  }
});
