import { beforeAll, describe, expect, test } from 'vitest';
import { setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { expectError, expectInvalid, ordinary, paymentCalls } from './paymentCalls.ts';
import { type ProductionScene, startProductionScene, treasury } from './productionScene.ts';

const live = { ...ordinary, network: 'ethereum' };

let scene: ProductionScene['scene'];
let account: ProductionScene['account'];
let calls: ProductionScene['calls'];
beforeAll(async () => {
  // The node serves chain 1, so it is the wrong node for polygon.
  ({ scene, account, calls } = await startProductionScene({ alsoOnNode: ['polygon'] }));
});

describe('without a wallet', () => {
  test('a live payment is 409 wallet_required and says how to set one', async () => {
    const answer = await calls.create(live);
    expectError(answer, 409, 'wallet_required');
    expect(answer.json.error.message).toContain('florin wallets set');
    expect(answer.json.error.message).toContain('ethereum');
    expect((await calls.list()).json.pagination.total).toBe(0);
  });

  test('faults of the request are told first', async () => {
    expectInvalid(await calls.create({ ...live, amount: '0' }), 'amount');
    expectInvalid(await calls.create({ ...live, currency: 'DOGE' }), 'currency');
  });
});

describe('a network that nobody watches', () => {
  test.each(['base', 'arbitrum', 'optimism', 'bsc', 'avalanche'])(
    '%s has no RPC URL: 503 network_unavailable that names the setting',
    async network => {
      const answer = await calls.create({ ...live, network });
      expectError(answer, 503, 'network_unavailable');
      expect(answer.json.error.message).toContain(`networks.production.${network}.rpcUrls`);
    },
  );

  test('polygon, whose node serves another chain, is 503 and says so', async () => {
    const answer = await until(
      () => calls.create({ ...live, network: 'polygon' }),
      refused => !refused.json.error.message.includes('has not been polled yet'),
    );
    expectError(answer, 503, 'network_unavailable');
    expect(answer.json.error.message).toContain('chain 1 instead of 137');
  });

  test('an unknown network is still 400', async () => {
    expectInvalid(await calls.create({ ...live, network: 'solana' }), 'network');
  });
});

describe.each(['callbackUrl', 'redirectUrl'])('%s in production', field => {
  test.each(['http://localhost:3000/x', 'http://127.0.0.1/x', 'http://[::1]/x', 'http://merchant.example/x'])(
    '%s is refused',
    async url => {
      expectInvalid(await calls.create({ ...live, [field]: url }), field);
    },
  );
});

test('callbackUrl in production may not be a loopback or private address, even with https', async () => {
  for (const host of ['localhost', '127.0.0.1', '[::1]', '10.0.0.1', '192.168.1.1', '169.254.169.254', '2130706433']) {
    expectInvalid(await calls.create({ ...live, callbackUrl: `https://${host}/x` }), 'callbackUrl');
  }
});

test('with a wallet a live payment is created, seen in production only, and frozen to that treasury', async () => {
  const scope = { accountId: account.id, environment: 'production' } as const;
  await setWallet(scene.admin, scope, 'ethereum', { treasury });
  const created = await until(
    () => calls.create({ ...live, callbackUrl: 'https://merchant.example/hook' }),
    answer => answer.status === 200,
  );
  expect(created.json).toMatchObject({
    environment: 'production',
    network: 'ethereum',
    checkoutUrl: `${scene.florin.urls.production}/checkout/${created.json.id}`,
    confirmations: { current: 0, required: null, rule: 'finalized' },
  });
  // The real USDC on the real chain.
  expect(created.json.paymentUri).toBe(
    `ethereum:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48@1/transfer?address=${created.json.address}&uint256=25000000`,
  );
  expectError(await paymentCalls(scene, account).read(created.json.id), 404, 'not_found');
  expect((await paymentCalls(scene, account).list()).json.pagination.total).toBe(0);
  expect((await calls.list()).json.data).toEqual([created.json]);

  await setWallet(scene.admin, scope, 'ethereum', { treasury: '0x00000000000000000000000000000000000a11ce' });
  expect((await calls.read(created.json.id)).text).toBe(created.text);
});

test('externalId of the sandbox is free in production', async () => {
  const sandbox = await paymentCalls(scene, account).made({ externalId: 'order-1' });
  const created = await calls.create({ ...live, externalId: 'order-1' });
  expect(created.status, created.text).toBe(200);
  expect(created.json.id).not.toBe(sandbox.id);
});

test('a key of the other environment is 401 and the message names the right address', async () => {
  const misplaced = await calls.create(live, { key: account.keys.sandbox });
  expectError(misplaced, 401, 'unauthorized');
  expect(misplaced.json.error.message).toContain(scene.florin.urls.sandbox);
});
