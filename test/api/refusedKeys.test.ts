import { beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { createKey } from '../support/operator.ts';
import { spend } from './spendLimit.ts';

let scene: TestFlorin;
let account: TestAccount;
let lines: Record<string, unknown>[] = [];
beforeAll(async () => {
  const info = (fields: object, message: string): void => {
    if (message === 'request') lines.push({ ...fields });
  };
  scene = await startTestFlorin({ log: { ...silentLog, info } });
  account = await scene.account();
});

const keyWith = (options: { scopes?: ['payments:read']; ipAllow?: string[] }) =>
  createKey(scene.admin, {
    accountId: account.id,
    environment: 'sandbox',
    name: '',
    scopes: ['payments:read'],
    ipAllow: null,
    expiresAt: null,
    ...options,
  });

const lineOf = async (method: string, path: string, key: string): Promise<Record<string, unknown>> => {
  lines = [];
  await scene.client.call(method, path, { key });
  expect(lines).toHaveLength(1);
  return lines[0]!;
};

test('a key without the permission is named in the access log', async () => {
  const { id, key } = await keyWith({});
  expect(await lineOf('POST', '/v1/payments', key)).toMatchObject({ status: 403, accountId: account.id, keyId: id });
});

test('a key from an address that it does not allow is named in the access log', async () => {
  const { id, key } = await keyWith({ ipAllow: ['192.0.2.1'] });
  expect(await lineOf('GET', '/v1/payments', key)).toMatchObject({ status: 403, accountId: account.id, keyId: id });
});

test('a key at an unknown path is named in the access log', async () => {
  const { id, key } = await keyWith({});
  expect(await lineOf('GET', '/v1/nothing', key)).toMatchObject({ status: 404, accountId: account.id, keyId: id });
});

test('a key of an account that reached its limit is named in the access log', async () => {
  const { id, keys, keyIds } = await scene.account({ rateLimit: 1, burst: 0 });
  const key = keys.sandbox;
  await spend(1, () => scene.client.call('GET', '/v1/payments', { key }));
  const line = await lineOf('GET', '/v1/payments', key);
  expect(line).toMatchObject({ status: 429, accountId: id, keyId: keyIds.sandbox });
});

test('a key that is none names nobody', async () => {
  const line = await lineOf('GET', '/v1/payments', 'sk_test_none');
  expect(line).toMatchObject({ status: 401, accountId: null, keyId: null });
});
