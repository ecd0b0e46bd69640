import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { cookieName, startDashboard, testPassword } from '../support/dashboard.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { send } from '../support/send.ts';

test('two dashboards on one host name keep their own cookies, and a session is for one port', async () => {
  const env = { FLORIN_MASTER_KEY: randomBytes(32).toString('hex') };
  const dashboard = await startDashboard({ env });
  const { email } = await dashboard.newPerson('viewer');
  // On the same database, so that only the port can tell the sessions apart.
  const { florin } = await startSecondFlorin(dashboard.scene.config.database!.url, env);
  const places = [
    { url: dashboard.url, ca: dashboard.ca },
    { url: florin.dashboardUrl, ca: await readFile(florin.caPath!, 'utf8') },
  ];
  /** What a browser holds: it sends all of it to each port. */
  const jar = new Map<string, string>();
  const call = async ({ url, ca }: (typeof places)[number], method: string, path: string, body?: object) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { origin: url, ...(cookie === '' ? {} : { cookie }) };
    const answer = await send(url, method, `/dashboard/api${path}`, { ca, headers, ...(body ? { body } : {}) });
    for (const set of answer.headers['set-cookie'] ?? []) {
      const [name, value] = set.split(';', 1)[0]!.split('=') as [string, string];
      jar.set(name, value);
    }
    return answer;
  };
  for (const place of places) {
    expect((await call(place, 'POST', '/sign-in', { email, password: testPassword })).status).toBe(200);
  }
  const names = places.map(({ url }) => cookieName(url));
  expect([...jar.keys()].filter(name => !name.includes('device'))).toEqual(names);
  expect(jar.size, 'and one cookie of each for the device').toBe(4);
  for (const place of places) {
    expect((await call(place, 'GET', '/session')).json).toMatchObject({ state: 'signed-in', person: { email } });
  }
  const [first, second] = [...jar.values()] as [string, string];
  jar.clear();
  jar.set(cookieName(places[0]!.url), second);
  jar.set(cookieName(places[1]!.url), first);
  for (const place of places) {
    expect((await call(place, 'GET', '/session')).json).toEqual({ state: 'signed-out', ended: 'unknown' });
  }
});
