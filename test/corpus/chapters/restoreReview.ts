import { closeProduction } from '../../support/closeProduction.ts';
import { until } from '../../support/until.ts';
import type { Corpus } from '../corpusScene.ts';
import { ordinary } from './paymentRequests.ts';

const environment = 'production';
const body = { ...ordinary, network: 'ethereum' };

/** After a restore: production is closed, and an owner opens it. */
export const restoreReview = async ({ florin, account, dashboard, ...corpus }: Corpus): Promise<void> => {
  const [ask, app] = [corpus.door('restore review'), corpus.appDoor('restore review')];
  const owner = await dashboard.newPerson('owner', account.id);
  const review = (name: string, given: object) =>
    app(owner, `review: ${name}`, 'POST /restore-review', { body: given });
  await owner.prove();
  await review('nothing is open', { restoredAt: '2026-01-02T03:04:05.000Z' });
  await closeProduction(florin.admin);
  // Florin reads it twice a second. A payment without a wallet is not created meanwhile.
  await until(
    () => florin.client.call('POST', '/v1/payments', { environment, key: account.keys.production, body: ordinary }),
    ({ json }) => json.error.code === 'service_unavailable',
  );
  const { json } = await app(owner, 'announcements', 'GET /announcements');
  await ask('create', 'POST /v1/payments', { environment, body });
  await ask('webhook', 'POST /v1/webhooks', { environment, body: { url: 'https://shop.example/hook' } });
  await ask('list', 'GET /v1/payments', { environment });
  await app(owner, 'create in the dashboard', `POST /payments?environment=${environment}`, { body });
  await review('no time', {});
  await review('a wrong time', { restoredAt: 'yesterday' });
  await review('another restore', { restoredAt: '2026-01-02T03:04:05.000Z' });
  await review('done', { restoredAt: json.restoredAt });
  await app(owner, 'audit', 'GET /audit?action=restore.reviewed');
};
