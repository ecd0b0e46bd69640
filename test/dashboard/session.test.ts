import { beforeAll, expect, test } from 'vitest';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});

test('whoever is signed in is told who they are and what they may do', async () => {
  const owner = await dashboard.as('owner');
  const session = await owner.do('GET /session');
  expect(session).toMatchObject({
    state: 'signed-in',
    person: { id: owner.personId, role: 'owner', hasPassword: true, hasTotp: false, passkeys: 0 },
    account: { id: dashboard.accountId },
    provenUntil: null,
    urls: dashboard.scene.florin.urls,
    needsSecondFactor: true,
  });
  expect(await dashboard.stranger().do('GET /session')).toEqual({ state: 'signed-out' });
});
