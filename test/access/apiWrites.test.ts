// @module-tag thorough
import { beforeAll, describe, expect, test } from 'vitest';
import { type Permission, permissions, rights } from '../../src/core/access/rights.ts';
import { createNetworkDirectory } from '../../src/engine/chain/networkDirectory.ts';
import type { Context } from '../../src/engine/context.ts';
import { allApiRoutes } from '../../src/http/v1/allRoutes.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { until } from '../support/until.ts';
import { actorRows } from './actorRows.ts';

let scene: TestFlorin;
beforeAll(async () => {
  scene = await startTestFlorin();
});

/** Only the table of routes is read; the calls go to the running Florin. */
const writeRoutes = () => {
  const networks = createNetworkDirectory(scene.admin.db, [], () => performance.now());
  const context = { ...scene.admin, listDb: scene.admin.db, networks } as unknown as Context;
  const routes = allApiRoutes(context, () => Promise.reject(new Error('not called')));
  return routes.filter(({ method }) => method !== 'GET');
};
const neededFor = (access: unknown): Permission | null => rights[access as keyof typeof rights]?.permission ?? null;

/** What a key needs to be allowed, and how many rows the call adds. Prepared with a key that may do everything. */
type KeySample = { readonly rows: 0 | 1; readonly path: string; readonly body?: object };
/** Of the answers of many routes, what the samples read. */
type Answered = { id: string; exception: string | null; data: { id: string }[] };
type Api = (method: string, path: string, body?: object, key?: string) => Promise<{ status: number; json: Answered }>;

const keySamples: Readonly<Record<string, (api: Api) => Promise<KeySample>>> = {
  'POST /v1/payments': async () => ({ rows: 0, path: '/payments', body: newPayment }),
  'POST /v1/payments/:id/cancel': async api => ({ rows: 1, path: `/payments/${await paymentOf(api)}/cancel` }),
  'POST /v1/payments/:id/resolve': async api => {
    const id = await paymentOf(api);
    await api('POST', `/sandbox/payments/${id}/simulate`, { outcome: 'underpaid' });
    await until(
      () => api('GET', `/payments/${id}`),
      ({ json }) => json.exception === 'underpaid',
    );
    return { rows: 1, path: `/payments/${id}/resolve`, body: { action: 'accept' } };
  },
  'POST /v1/sandbox/payments/:id/simulate': async api => ({
    rows: 0,
    path: `/sandbox/payments/${await paymentOf(api)}/simulate`,
    body: { outcome: 'paid' },
  }),
  'POST /v1/webhooks': async () => ({ rows: 1, path: '/webhooks', body: { url: 'https://localhost:1/one' } }),
  'PATCH /v1/webhooks/:id': async api => ({
    rows: 1,
    path: `/webhooks/${await hookOf(api)}`,
    body: { description: 'x' },
  }),
  'DELETE /v1/webhooks/:id': async api => ({ rows: 1, path: `/webhooks/${await hookOf(api)}` }),
  'POST /v1/webhooks/:id/test': async api => ({ rows: 0, path: `/webhooks/${await hookOf(api)}/test` }),
  'POST /v1/webhooks/:id/rotate': async api => ({ rows: 1, path: `/webhooks/${await hookOf(api)}/rotate` }),
  'POST /v1/webhooks/:id/replay': async api => ({
    rows: 1,
    path: `/webhooks/${await hookOf(api)}/replay`,
    body: { from: '2026-01-01', to: '2026-01-02' },
  }),
  'POST /v1/deliveries/:id/resend': async api => {
    const id = await hookOf(api);
    await paymentOf(api);
    const { json } = await until(
      () => api('GET', `/webhooks/${id}/deliveries`),
      page => page.json.data.length > 0,
    );
    return { rows: 1, path: `/deliveries/${json.data[0]!.id}/resend` };
  },
};
const newPayment = { amount: '25', currency: 'USDC', network: 'base' };
const paymentOf = async (api: Api): Promise<string> => (await api('POST', '/payments', newPayment)).json.id;
let hooks = 0;
const hookOf = async (api: Api): Promise<string> => {
  hooks += 1;
  return (await api('POST', '/webhooks', { url: `https://localhost:1/${hooks}` })).json.id;
};

describe('every write of the API, by keys with one permission each', () => {
  test.each(permissions)('%s: done and recorded once where the table permits it, else refused', async permission => {
    const account = await scene.account();
    const all = await scene.key(account.id, 'sandbox');
    const one = await scene.key(account.id, 'sandbox', [permission]);
    const api: Api = (method, path, body, key = all.key) =>
      scene.client.call(method as 'POST', `/v1${path}`, { key, ...(body ? { body } : {}) });
    const wrong: string[] = [];
    for (const route of writeRoutes()) {
      const name = `${route.method} ${route.path}`;
      const sample = await keySamples[name]!(api);
      const before = (await actorRows(scene, account.id)).length;
      const { status } = await api(route.method, sample.path, sample.body, one.key);
      const rows = (await actorRows(scene, account.id))
        .slice(before)
        .filter(row => row.kind === 'key' && row.id === one.id);
      const isPermitted = neededFor(route.access) === permission;
      const wanted = isPermitted ? { status: 200, rows: sample.rows } : { status: 403, rows: 0 };
      if (status !== wanted.status || rows.length !== wanted.rows)
        wrong.push(`${name}: ${status} with ${rows.length} rows, instead of ${wanted.status} with ${wanted.rows}`);
    }
    expect(wrong).toEqual([]);
  });

  test('every one has a sample', () => {
    expect(
      writeRoutes()
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    ).toEqual(Object.keys(keySamples).sort());
  });
});
