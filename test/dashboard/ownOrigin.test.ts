import { beforeAll, describe, expect, test } from 'vitest';
import { environments } from '../../src/core/environment.ts';
import { startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { send } from '../support/send.ts';

const html = { accept: 'text/html' };

describe('on a port of its own', () => {
  let dashboard: TestDashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ env: { FLORIN_DASHBOARD_PORT: '0' } });
  });

  test('the dashboard is there, and people sign in', async () => {
    const { florin } = dashboard.scene;
    expect(dashboard.url).toMatch(/^https:\/\/localhost:\d+$/);
    expect(Object.values(florin.urls)).not.toContain(dashboard.url);
    expect((await dashboard.send('GET', '/dashboard', { headers: html })).status).toBe(200);
    const person = await dashboard.newPerson('viewer');
    const client = dashboard.stranger();
    await client.do('POST /sign-in', { body: { email: person.email, password: testPassword } });
    expect(await client.do('GET /session')).toMatchObject({ state: 'signed-in', urls: florin.urls });
  });

  test('there is nothing else, not even with a key', async () => {
    const headers = { authorization: `Bearer ${dashboard.keys.production}` };
    for (const path of [
      '/v1/payments',
      '/v1/networks',
      '/docs',
      '/openapi.json',
      '/healthz',
      '/checkout/pay_1',
      '/%761/payments',
    ]) {
      expect((await dashboard.send('GET', path, { headers })).status, path).toBe(404);
    }
    const root = await dashboard.send('GET', '/');
    expect([root.status, root.headers.location]).toEqual([302, '/dashboard']);
  });

  test('it is nowhere else', async () => {
    const { urls } = dashboard.scene.florin;
    for (const url of Object.values(urls)) {
      for (const path of ['/dashboard', '/dashboard/sandbox', '/dashboard/api/session']) {
        expect((await send(url, 'GET', path, { ca: dashboard.ca, headers: html })).status, `${url}${path}`).toBe(404);
      }
      expect((await send(url, 'GET', '/v1/networks', { ca: dashboard.ca })).status).toBe(200);
    }
  });

  test('a Host that is not its own is refused', async () => {
    const headers = { host: 'evil.example' };
    expect((await send(dashboard.url, 'GET', '/dashboard', { ca: dashboard.ca, headers })).status).toBe(400);
  });

  test.each(environments)('the port of %s serves nothing of it, whatever the Host header says', async environment => {
    const base = dashboard.scene.florin.urls[environment];
    const { cookie } = await dashboard.as('owner');
    const { host } = new URL(dashboard.url);
    const ask = (method: string, path: string, headers: Record<string, string>) =>
      send(base, method, path, { ca: dashboard.ca, headers: { host, ...headers } });
    for (const path of ['/dashboard', '/dashboard/api/session', '/%64ashboard/api/team', '/dashboard/assets/x.js']) {
      expect((await ask('GET', path, { cookie, ...html })).status, path).toBe(404);
    }
    const signedOut = await ask('POST', '/dashboard/api/sign-out', { cookie, origin: dashboard.url });
    expect(signedOut.status).toBe(404);
    const authorization = `Bearer ${dashboard.keys[environment]}`;
    expect((await ask('GET', '/v1/payments', { authorization })).status, 'the API is there as ever').toBe(200);
  });

  test("a call from production's pages is a foreign one", async () => {
    const person = await dashboard.newPerson('viewer');
    const headers = { origin: dashboard.scene.florin.urls.production };
    expect((await person.call('PATCH /me', { body: { name: 'X' }, headers })).status).toBe(403);
  });
});

test('with an address alone, the Host header decides', { tags: ['thorough'] }, async () => {
  const dashboard = await startDashboard({
    env: { FLORIN_DASHBOARD_URL: 'https://office.example', FLORIN_TRUSTED_PROXIES: '127.0.0.1,::1' },
  });
  try {
    const { urls } = dashboard.scene.florin;
    const at = (url: string, path: string, host?: string) =>
      send(url, 'GET', path, { ca: dashboard.ca, headers: { ...html, ...(host === undefined ? {} : { host }) } });
    expect(dashboard.url).toBe('https://office.example');
    for (const url of Object.values(urls)) {
      expect((await at(url, '/dashboard', 'office.example')).status).toBe(200);
      expect((await at(url, '/dashboard', 'OFFICE.example:443')).status).toBe(200);
      expect((await at(url, '/v1/networks', 'office.example')).status).toBe(404);
      expect((await at(url, '/dashboard')).status).toBe(404);
      expect((await at(url, '/dashboard', 'office.example.evil')).status).toBe(404);
      expect((await at(url, '/v1/networks')).status).toBe(200);
    }
  } finally {
    await dashboard.scene.stop();
  }
});
