import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { environments } from '../../src/core/environment.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';
import { send } from '../support/send.ts';

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const icon = readFileSync(new URL('../../web/checkout/icon.svg', import.meta.url), 'utf8');

describe('where the dashboard is at the address of production', () => {
  let dashboard: TestDashboard;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });

  const ask = (environment: (typeof environments)[number], method: string, path: string, headers = {}) =>
    send(dashboard.scene.florin.urls[environment], method, path, { ca: dashboard.ca, headers });

  test.each(environments)('the root of %s leads a browser to the dashboard', async environment => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask(environment, method, '/?from=mail', browser);
      expect(answer.status, method).toBe(302);
      const target = new URL(String(answer.headers.location), dashboard.scene.florin.urls[environment]);
      expect(target.href).toBe(`${dashboard.url}/dashboard`);
    }
  });

  test.each(environments)('programs get the same 404 at the root of %s as before', async environment => {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const answer = await ask(environment, 'GET', '/', headers);
      expect(answer.status).toBe(404);
      expect(answer.json.error).toMatchObject({ code: 'not_found' });
    }
    expect((await ask(environment, 'POST', '/', browser)).status).toBe(404);
    expect((await ask(environment, 'GET', '/nothing', browser)).status).toBe(404);
  });

  test.each(environments)('/favicon.ico of %s is the icon', async environment => {
    const answer = await ask(environment, 'GET', '/favicon.ico');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('image/svg+xml; charset=utf-8');
    expect(answer.text).toBe(icon);
    expect((await ask(environment, 'HEAD', '/favicon.ico')).status).toBe(200);
  });
});

test('where the dashboard has a port of its own, every listener has the icon, and no other leads to the dashboard', async () => {
  const dashboard = await startDashboard({ env: { FLORIN_DASHBOARD_PORT: '0' } });
  try {
    const { urls } = dashboard.scene.florin;
    for (const url of [dashboard.url, ...Object.values(urls)]) {
      const answer = await send(url, 'GET', '/favicon.ico', { ca: dashboard.ca });
      expect([answer.status, answer.text], url).toEqual([200, icon]);
    }
    for (const url of Object.values(urls)) {
      expect((await send(url, 'GET', '/', { ca: dashboard.ca, headers: browser })).status, url).toBe(404);
    }
  } finally {
    await dashboard.scene.stop();
  }
});
