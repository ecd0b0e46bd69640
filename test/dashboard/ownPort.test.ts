import { afterAll, beforeAll, expect, test } from 'vitest';
import { environments } from '../../src/core/environment.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';
import { send } from '../support/send.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard({ env: { FLORIN_DASHBOARD_PORT: '0' } });
});
afterAll(() => dashboard.stop());

const ask = (base: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  send(base, method, path, { ca: dashboard.ca, headers });

test('its own port serves the dashboard', async () => {
  expect((await (await dashboard.as('viewer')).do('GET /session')).state).toBe('signed-in');
  const root = await ask(dashboard.url, '/');
  expect(root.status).toBe(302);
  expect(root.headers.location).toBe('/dashboard');
});

test.each(['/v1/payments', '/docs', '/healthz', '/checkout/x', '/%761/payments'])(
  'its own port serves nothing else: %s',
  async path => {
    const answer = await ask(dashboard.url, path, { authorization: `Bearer ${dashboard.keys.production}` });
    expect(answer.status).toBe(404);
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  },
);

test.each(environments)('the %s port serves nothing of it, whatever the Host header says', async environment => {
  const base = dashboard.scene.florin.urls[environment];
  const { cookie } = await dashboard.as('owner');
  for (const host of [new URL(dashboard.url).host, new URL(base).host]) {
    for (const path of ['/dashboard', '/dashboard/api/session', '/%64ashboard/api/team', '/dashboard/assets/x.js']) {
      const answer = await ask(base, path, { host, cookie, accept: '*/*' });
      expect([host, path, answer.status]).toEqual([host, path, 404]);
    }
    const origin = dashboard.url;
    expect((await ask(base, '/dashboard/api/sign-out', { host, cookie, origin }, 'POST')).status).toBe(404);
  }
  const key = dashboard.keys[environment];
  const named = { host: new URL(dashboard.url).host, authorization: `Bearer ${key}` };
  expect((await ask(base, '/v1/payments', named)).status, 'the interface is there as ever').toBe(200);
});

test('another name on its own port is nobody', async () => {
  expect((await ask(dashboard.url, '/dashboard', { host: 'evil.example' })).status).toBe(400);
});
