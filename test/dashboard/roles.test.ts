import { beforeAll, describe, expect, test } from 'vitest';
import { mayDo, rights, roles } from '../../src/core/access/rights.ts';
import { createNetworkDirectory } from '../../src/engine/chain/networkDirectory.ts';
import type { Context } from '../../src/engine/context.ts';
import { allDashboardRoutes } from '../../src/http/dashboard/allRoutes.ts';
import type { DashboardRoute, PublicRoute } from '../../src/http/dashboard/dashboardRoute.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';

let dashboard: TestDashboard;
let routes: DashboardRoute[];
let publicNames: string[];

const isPublic = (row: DashboardRoute | PublicRoute): row is PublicRoute => row.action === 'public';

beforeAll(async () => {
  dashboard = await startDashboard();
  const { admin } = dashboard.scene;
  const networks = createNetworkDirectory(admin.db, [], () => performance.now());
  // Only the names of these routes are used; the calls go to the running Florin.
  const context = { ...admin, listDb: admin.db, networks } as unknown as Context;
  const all = allDashboardRoutes(context, () => Promise.reject(new Error('not called')));
  routes = all.filter(row => !isPublic(row));
  publicNames = all.filter(isPublic).map(row => row.name);
});

/** Input that no call accepts: a role is refused before the input is checked. */
const nonsense = (name: string) => ({
  params: Object.fromEntries([...name.matchAll(/:([a-z]+)/gi)].map(match => [match[1]!, 'nonsense'])),
  ...(name.startsWith('GET') ? {} : { body: { nonsense: true } }),
});

describe('every call, from the tables', () => {
  test.each(roles)('%s may do what the table says, and nothing else', async role => {
    const wrong: string[] = [];
    let person = await dashboard.newPerson(role);
    await person.prove();
    for (const { name, action } of routes) {
      const { status, json, text } = await person.call(name, nonsense(name));
      const isAllowed = action === 'signed-in' || mayDo(role, action);
      const isRefused = status === 403 && /^Your role/.test(json.error?.message ?? '');
      if (isAllowed === isRefused)
        wrong.push(`${name} ${isAllowed ? 'must be allowed' : 'must be refused'}: ${status}`);
      if (isAllowed && (status === 401 || status === 403 || status >= 500)) wrong.push(`${name}: ${status} ${text}`);
      if (name !== 'POST /sign-out') continue;
      person = await dashboard.newPerson(role);
      await person.prove();
    }
    expect(wrong).toEqual([]);
  });

  test('without a session each is refused with 401, before it is looked at', async () => {
    const wrong: string[] = [];
    for (const { name } of routes) {
      const { status, json } = await dashboard.stranger().call(name, nonsense(name));
      if (status !== 401 || json.error?.code !== 'unauthorized') wrong.push(`${name} ${status}`);
    }
    expect(wrong).toEqual([]);
  });

  test('the sensitive ones ask for a proof, from everybody who may do them', async () => {
    const sensitive = routes.filter(row => row.stepUp);
    expect(sensitive.length).toBeGreaterThan(0);
    const person = await dashboard.newPerson('owner');
    for (const { name, stepUp } of sensitive) {
      const { status, json } = await person.call(name, nonsense(name));
      // The account has a live key.
      expect([name, status, json.error?.param]).toEqual([
        name,
        403,
        ['account', 'review'].includes(stepUp!) ? 'secondFactor' : 'proof',
      ]);
    }
  });

  test('a change from another site is refused at each of them', async () => {
    const person = await dashboard.newPerson('owner');
    await person.prove();
    for (const name of [...routes.map(row => row.name), ...publicNames] as DashboardRoute['name'][]) {
      if (name.startsWith('GET')) continue;
      const { status } = await person.call(name, { ...nonsense(name), headers: { origin: 'https://evil.example' } });
      expect([name, status]).toEqual([name, 403]);
    }
    expect((await person.call('GET /team')).status, 'and its session is whole').toBe(200);
  });
});

test('keys, wallets, secrets and the team are behind a proof', () => {
  const guarded = ['keys.manage', 'wallets.manage', 'secrets.reveal', 'team.manage'];
  /** Stopping a change is urgent, so it needs no proof. A verification or a preview moves no funds. */
  const quick = ['POST /wallet-changes/:id/stop', 'POST /wallets/:network/verify', 'POST /wallets/preview'];
  const open = routes.filter(row => guarded.includes(row.action) && !row.stepUp && !row.name.startsWith('GET'));
  expect(open.map(row => row.name).filter(name => !quick.includes(name))).toEqual([]);
});

test('what needs no session is how one gets one', () => {
  expect(publicNames.sort()).toEqual([
    'GET /session',
    'POST /invitation',
    'POST /invitation/check',
    'POST /invitation/passkey/options',
    'POST /invitation/sign-in',
    'POST /invitation/sign-in/passkey',
    'POST /recovery',
    'POST /recovery/check',
    'POST /recovery/request',
    'POST /setup',
    'POST /setup/check',
    'POST /setup/passkey/options',
    'POST /sign-in',
    'POST /sign-in/passkey',
    'POST /sign-in/passkey/options',
  ]);
});

test('an owner may do everything, and only owners touch owners', () => {
  for (const [action, allowed] of Object.entries(rights)) expect(allowed.roles, action).toContain('owner');
  expect(rights['team.owners'].roles).toEqual(['owner']);
});
