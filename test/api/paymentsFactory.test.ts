import { HDKey } from '@scure/bip32';
import { beforeAll, describe, expect, test } from 'vitest';
import { forwarderFactory } from '../../src/chains/evm/forwarder.ts';
import { placeFactory } from '../chains/placeFactory.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';
import type { TestAccount } from '../support/florin.ts';
import { setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { type FarChain, startFarChain } from '../watch/farChain.ts';
import { expectError, ordinary, paymentCalls } from './paymentCalls.ts';
import { startRpcNode } from './rpcNode.ts';

type Node = Awaited<ReturnType<typeof startRpcNode>>;

const treasury = '0x00000000000000000000000000000000DeaDBeef';
const xpub = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/44'/60'/0'").publicExtendedKey;

let ethereum: Node;
let polygon: Node;
let far: FarChain;
let dashboard: TestDashboard;
let account: TestAccount;
beforeAll(async () => {
  ethereum = await startRpcNode(1, { factory: false });
  polygon = await startRpcNode(137, { factory: false });
  await polygon.node.request('hardhat_setCode', forwarderFactory, '0x6001');
  far = await startFarChain('arbitrum', 0, { factory: false });
  await far.placeToken('USDC', 6);
  const production = { ethereum: { rpcUrls: [ethereum.url] }, polygon: { rpcUrls: [polygon.url] } };
  const sandbox = { arbitrum: { rpcUrls: [far.url] } };
  dashboard = await startDashboard({ configFile: { networks: { production, sandbox } } });
  account = { id: dashboard.accountId, keys: dashboard.keys, keyIds: { production: '', sandbox: '' } };
  const scope = { accountId: account.id, environment: 'production' } as const;
  for (const network of ['ethereum', 'polygon'] as const) {
    await setWallet(dashboard.scene.admin, scope, network, { treasury });
  }
});

const calls = (environment: 'production' | 'sandbox', of = account) => paymentCalls(dashboard.scene, of, environment);

/** The answer to a creation once the network is watched. */
const created = (environment: 'production' | 'sandbox', network: string) =>
  until(
    () => calls(environment).create({ ...ordinary, network }),
    ({ status, text }) => status === 200 || !/not being watched/.test(text),
  );

const thorough = { tags: ['thorough'] };

describe('while the factory is missing', () => {
  test('a live payment is refused while the factory is missing, and the message names the command', async () => {
    const refused = await created('production', 'ethereum');
    expectError(refused, 503, 'network_unavailable');
    expect(refused.json.error.message).toContain('florin factory deploy --environment production --network ethereum');
    expect((await calls('production').list()).json.pagination.total).toBe(0);
  });

  test('different code at its address is no better', thorough, async () => {
    const refused = await created('production', 'polygon');
    expectError(refused, 503, 'network_unavailable');
    expect(refused.json.error.message).toContain('florin factory check');
  });

  test(
    'a sandbox on a test network behaves as production; on the local chain nothing is needed',
    thorough,
    async () => {
      const refused = await created('sandbox', 'arbitrum');
      expectError(refused, 503, 'network_unavailable');
      expect(refused.json.error.message).toContain('florin factory deploy --environment sandbox --network arbitrum');
      expect((await created('sandbox', 'base')).status).toBe(200);
    },
  );

  test('payments to an extended public key need no factory', thorough, async () => {
    const other = await dashboard.scene.account();
    await setWallet(dashboard.scene.admin, { accountId: other.id, environment: 'production' }, 'ethereum', { xpub });
    const { status, text } = await calls('production', other).create({ ...ordinary, network: 'ethereum' });
    expect(status, text).toBe(200);
  });
});

test('once an operator has deployed it, payments are created', thorough, async () => {
  await placeFactory(ethereum.node);
  await until(
    () => calls('production').create({ ...ordinary, network: 'ethereum' }),
    ({ status }) => status === 200,
  );
});

test('a sweep is not planned to an address without the code of the factory', thorough, async () => {
  await placeFactory(far.node);
  const owner = await dashboard.as('owner');
  const payment = await until(
    () => calls('sandbox').create({ ...ordinary, network: 'arbitrum' }),
    ({ status }) => status === 200,
  );
  await far.chain.payToken(far.token('USDC'), payment.json.address, 25_000_000n);
  const { unswept } = await until(
    () => far.chain.mine(1).then(() => owner.do('GET /settlement')),
    found => found.unswept.length === 1,
  );
  const body = { network: 'arbitrum', currency: 'USDC', treasury: unswept[0]!.treasury };
  expect((await owner.do('POST /settlement/plan', { body })).transactions).toHaveLength(1);

  // As a watcher publishes it that finds another chain behind the same network.
  await dashboard.scene.admin.db.script(`update deployment set value = 'absent' where name = 'factory ${far.caip2}'`);
  const refused = await until(
    () => owner.call('POST /settlement/plan', { body }),
    ({ status }) => status !== 200,
  );
  expect(refused.status).toBe(503);
  expect(refused.json.error?.message).toContain('florin factory deploy --environment sandbox --network arbitrum');
});
