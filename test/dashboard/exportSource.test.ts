import { expect, test } from 'vitest';
import { startDashboard } from '../support/dashboard.ts';

const connectionsStatement = {
  name: '',
  text: `select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name = 'florin exports'`,
};

test('exports use the connections of FLORIN_READ_DATABASE_URL, and lists do not', async () => {
  const { scene, keys, as } = await startDashboard({ hasReadUrl: true });
  const owner = await as('owner');
  const body = { amount: '5', currency: 'USDC', network: 'base' };
  const { json } = await scene.client.call('POST', '/v1/payments', { key: keys.sandbox, body });
  const connections = async () => (await scene.admin.db.query<{ count: number }>(connectionsStatement))[0]!.count;
  await owner.do('GET /payments');
  expect(await connections()).toBe(0);
  const file = await owner.call('GET /payments.csv');
  expect(file.text).toContain(`${json.id},pending,`);
  expect(await connections()).toBe(1);
});
