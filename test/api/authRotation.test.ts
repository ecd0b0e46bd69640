import { beforeAll, describe, expect, test } from 'vitest';
import { permissions } from '../../src/core/access/rights.ts';
import { rotationOverlaps } from '../../src/engine/access/keys.ts';
import { listKeys } from '../../src/storage/access/keys.ts';
import { createClient, type TestClient } from '../support/client.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { createKey, endKey, rotateKey } from '../support/operator.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';

const env = { FLORIN_MASTER_KEY: '5e'.repeat(32) };
let scene: TestFlorin;
let second: Awaited<ReturnType<typeof startSecondFlorin>>;
let secondClient: TestClient;
let account: TestAccount;
beforeAll(async () => {
  scene = await startTestFlorin({ env });
  account = await scene.account();
  second = await startSecondFlorin(scene.config.database!.url, env);
  secondClient = await createClient(second.florin);
});

const statusOf = async (key: string, client: TestClient = scene.client): Promise<number> =>
  (await client.call('GET', '/v1/payments?limit=1', { key })).status;
const databaseMs = async (): Promise<number> =>
  (
    await scene.admin.db.query<{ now: Date }>({ name: 'test-now', text: 'select clock_timestamp() as now' })
  )[0]!.now.getTime();
const rowOf = async (id: string) => (await listKeys(scene.admin.db, account.id)).find(row => row.id === id)!;

describe('rotation', () => {
  test('the overlaps on offer are 0, 1 h, 24 h and 7 d', () => {
    expect(rotationOverlaps).toEqual({ '0': 0, '1h': 3_600, '24h': 86_400, '7d': 7 * 86_400 });
  });

  test.each(['1h', '24h', '7d'] as const)('with %s both keys work until the overlap ends', async overlap => {
    const old = await scene.key(account.id, 'sandbox', ['payments:read']);
    const beforeMs = await databaseMs();
    const successor = await rotateKey(scene.admin, old.id, overlap);
    const afterMs = await databaseMs();
    expect(successor.key).not.toBe(old.key);
    expect(successor).toMatchObject({ accountId: account.id, environment: 'sandbox', scopes: ['payments:read'] });
    expect(successor.expiresAt).toBeNull();
    expect(await statusOf(old.key)).toBe(200);
    expect(await statusOf(successor.key)).toBe(200);
    const { expiresAt, successorId } = await rowOf(old.id);
    expect(successorId).toBe(successor.id);
    const overlapMs = rotationOverlaps[overlap] * 1_000;
    // The column rounds to milliseconds.
    expect(expiresAt!.getTime()).toBeGreaterThanOrEqual(beforeMs + overlapMs - 1);
    expect(expiresAt!.getTime()).toBeLessThanOrEqual(afterMs + overlapMs + 1);
  });

  test('after the overlap the old key is refused and the successor lives', async () => {
    const old = await scene.key(account.id, 'sandbox');
    const successor = await rotateKey(scene.admin, old.id, '1h');
    await scene.admin.db.query(
      {
        name: 'test-end-overlap',
        text: `update api_keys set expires_at = clock_timestamp() - interval '1 minute' where id = $1`,
      },
      [old.id],
    );
    expect(await statusOf(old.key)).toBe(401);
    expect(await statusOf(successor.key)).toBe(200);
  });

  test('with 0 the old key is refused at once', async () => {
    const old = await scene.key(account.id, 'sandbox');
    const successor = await rotateKey(scene.admin, old.id, '0');
    expect(await statusOf(old.key)).toBe(401);
    expect(await statusOf(successor.key)).toBe(200);
  });

  test('an expiry of its own that comes first stays, and the successor has it too', async () => {
    const expiresAt = new Date((await databaseMs()) + 60_000);
    const request = {
      accountId: account.id,
      environment: 'sandbox',
      name: '',
      scopes: permissions,
      ipAllow: ['127.0.0.0/8', '::1/128'],
    } as const;
    const old = await createKey(scene.admin, { ...request, ipAllow: [...request.ipAllow], expiresAt });
    const successor = await rotateKey(scene.admin, old.id, '7d');
    expect((await rowOf(old.id)).expiresAt).toEqual(expiresAt);
    expect(successor.expiresAt).toEqual(expiresAt);
    expect(successor.ipAllow).toEqual(old.ipAllow);
  });

  test('a key is rotated once, and a revoked one never', async () => {
    const old = await scene.key(account.id, 'sandbox');
    const successor = await rotateKey(scene.admin, old.id, '1h');
    await expect(rotateKey(scene.admin, old.id, '0')).rejects.toMatchObject({ code: 'conflict' });
    await endKey(scene.admin, successor.id);
    await expect(rotateKey(scene.admin, successor.id, '0')).rejects.toMatchObject({ code: 'conflict' });
    await expect(rotateKey(scene.admin, 'key_none', '0')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('on two processes over one database', () => {
  test('a key made at one works at the other, and sees the same payments', async () => {
    const body = { amount: '1', currency: 'USDC', network: 'base' };
    const made = await scene.client.call('POST', '/v1/payments', { key: account.keys.sandbox, body });
    expect(made.status, made.text).toBe(200);
    const read = await secondClient.call('GET', `/v1/payments/${made.json.id}`, { key: account.keys.sandbox });
    expect(read.status, read.text).toBe(200);
    expect(read.json.id).toBe(made.json.id);
  });

  test('a revoked key in constant use is refused by both from one second after the revocation on', async () => {
    const { id, key } = await scene.key(account.id, 'sandbox');
    const clients = [scene.client, secondClient];
    for (const client of clients) expect(await statusOf(key, client)).toBe(200);
    await endKey(scene.admin, id);
    const revokedMs = performance.now();
    // Constant use keeps the cached key as fresh as possible.
    let deceived = clients;
    while (performance.now() < revokedMs + 1_000 && deceived.length > 0) {
      const statuses = await Promise.all(deceived.map(client => statusOf(key, client)));
      deceived = deceived.filter((_, i) => statuses[i] === 200);
    }
    for (const client of clients) {
      const answer = await client.call('GET', '/v1/payments', { key });
      expect([answer.status, answer.json.error?.code]).toEqual([401, 'unauthorized']);
    }
  });
});
