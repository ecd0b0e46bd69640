import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { beforeAll, expect, test } from 'vitest';
import { declareRestored } from '../../src/engine/chain/restores.ts';
import { largeTables } from '../../src/engine/seals/largeTables.ts';
import { type LargeTable, readLargeRows } from '../../src/storage/largeSeals.ts';
import { setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { startWatchScene, type WatchScene } from './watchScene.ts';

let scene: WatchScene;
beforeAll(async () => {
  scene = await startWatchScene();
});

const post = (path: string, body: unknown = {}, headers: Record<string, string> = {}) =>
  scene.florin.client.call('POST', `/v1${path}`, { key: scene.account.keys.sandbox, body, headers });

const simulate = async (id: string, outcome: string, status: string): Promise<void> => {
  await post(`/sandbox/payments/${id}/simulate`, { outcome });
  await scene.reach(id, status);
};
const simulated = async (outcome: string, status: string): Promise<string> => {
  const { id } = await scene.calls.made({ callbackUrl: 'https://shop.example/hook' });
  await simulate(id, outcome, status);
  return id;
};

/** Rows of every kind: paid, underpaid and accepted, stray, late, canceled, reversed; answers with and without secrets. */
const live = async (): Promise<void> => {
  const keyed = (key: string) => ({ 'idempotency-key': key });
  await post('/webhooks', { url: 'https://shop.example/hook' }, keyed('endpoint'));
  const text = { description: 'é "日本" \\ 🪙', metadata: { a: [1.5, null, '\u0001'] } };
  const all = { ...text, externalId: 'order-1', callbackUrl: 'https://a.example/', redirectUrl: 'https://b.example/' };
  const { id } = (await post('/payments', { amount: '12.5', currency: 'USDC', network: 'base', ...all }, keyed('all')))
    .json;
  await post(`/payments/${id}/cancel`, undefined, keyed('cancel'));
  await post(`/payments/${id}/cancel`, undefined, keyed('refused'));
  await simulate(await simulated('paid', 'completed'), 'reorg', 'reversed');
  await simulated('overpaid', 'completed');
  await simulated('late', 'completed');
  const underpaid = await scene.calls.made({ currency: 'ETH', amount: '1.000000000000000001' });
  await post(`/sandbox/payments/${underpaid.id}/simulate`, { outcome: 'underpaid' });
  await until(
    () => scene.read(underpaid.id),
    payment => payment.exception === 'underpaid',
  );
  await post(`/sandbox/payments/${underpaid.id}/simulate`, { outcome: 'wrong_token' });
  await until(
    () => scene.read(underpaid.id),
    payment => payment.strays.length === 1,
  );
  const resolved = await scene.calls.act(underpaid.id, 'resolve', { body: { action: 'accept' } });
  expect(resolved.status, resolved.text).toBe(200);
  await scene.reach(underpaid.id, 'completed');
  await sweep(await simulated('paid', 'completed'));
  await receiveByKey();
  await declareRestored(scene.florin.admin, { most: 20 });
};

const sweep = async (id: string): Promise<void> => {
  const { treasury, salt } = await scene.originOf(id);
  await scene.chain.sweep(treasury, await scene.token('base', 'USDC'), [salt]);
  await scene.processed();
};

/** What an address of an extended public key held before its payment is written down. */
const receiveByKey = async (): Promise<void> => {
  const { admin } = scene.florin;
  const xpub = HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'").publicExtendedKey;
  await setWallet(admin, { accountId: scene.account.id, environment: 'sandbox' }, 'polygon', { xpub });
  await until(
    () => scene.calls.create({ amount: '5', currency: 'USDC', network: 'polygon' }),
    answer => answer.status === 200,
  );
  await until(
    () => admin.db.query({ name: '', text: 'select 1 as one from address_baselines limit 1' }),
    rows => rows.length > 0,
  );
};

test('every row that Florin writes has the seal that SQL computes of it', async () => {
  await live();
  const { db, vault } = scene.florin.admin;
  for (const large of largeTables) {
    const page = await readLargeRows(db, large, { after: null, limit: 1_000, all: true });
    const rows = page.filter(({ values }) => values !== null);
    expect(rows.length, large.table).toBeGreaterThan(0);
    for (const { key, values, seal } of rows) {
      const isSealed = seal !== null && vault.isRowSeal(large.table, values!, Buffer.from(seal, 'hex'));
      expect(isSealed, `${large.table} ${key} ${values}`).toBe(true);
    }
  }
});

const columnsOf = async (table: string): Promise<string[]> => {
  const text = `select attname as name from pg_attribute where attrelid = $1::text::regclass and attnum > 0
    and not attisdropped and attname <> 'row_seal' order by 1`;
  return (await scene.florin.admin.db.query<{ name: string }>({ name: '', text }, [table])).map(({ name }) => name);
};
const namedColumns = ({ covered, open }: LargeTable): string[] => [...covered, ...Object.keys(open)].sort();

test.each(largeTables.map(large => [large.table, large] as const))(
  'each column of %s is covered, or open with a reason',
  async (table, large) => {
    expect(namedColumns(large)).toEqual(await columnsOf(table));
  },
);

test('a column that is added to a large table and is neither is noticed', async () => {
  const large = largeTables.find(({ table }) => table === 'transfers')!;
  await scene.florin.tamper('alter table transfers add column added_later text');
  expect((await columnsOf('transfers')).filter(name => !namedColumns(large).includes(name))).toEqual(['added_later']);
  await scene.florin.tamper('alter table transfers drop column added_later');
});
