// @module-tag thorough
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEvmDriver } from '../../src/chains/evm/evmDriver.ts';
import { silentLog } from '../../src/core/log.ts';
import { testnets } from '../../src/core/registry/backings.ts';
import { resolveNetworks } from '../../src/core/registry/networks.ts';
import { startWatchers, type Watchers } from '../../src/workers/watcher.ts';
import { expectError, ordinary, type PaymentCalls, paymentCalls } from '../api/paymentCalls.ts';
import { type FaultProxy, startFaultProxy } from '../chains/faultProxy.ts';
import { startTestChain, type TestChain } from '../chains/followScene.ts';
import { inUnknownFormat } from '../chains/forkOf.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { until } from '../support/until.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';

/** Waiting times of the driver pass this much faster. */
const haste = 50;
const { caip2, chainId } = testnets.ethereum;
const body = { ...ordinary, network: 'ethereum', currency: 'ETH' };

let quiet: QuietScene;
let chain: TestChain;
let node: FaultProxy;
let scene: TestFlorin;
let calls: PaymentCalls;
let watchers: Watchers;
let above = Number.POSITIVE_INFINITY;
beforeAll(async () => {
  chain = await startTestChain({ chainId, hasFactory: true });
  await chain.mine(20);
  node = await startFaultProxy(
    inUnknownFormat(chain.upstream, () => above),
    { seed: 'format' },
  );
  const settings = { rpcUrls: [node.url] };
  const configFile = { networks: { sandbox: { ethereum: settings } } };
  scene = await startTestFlorin({ env: { FLORIN_ROLES: 'api' }, configFile });
  quiet = await startQuietScene();
  calls = paymentCalls(scene, await scene.account());
  const networks = resolveNetworks({ environment: 'sandbox', configured: { ethereum: settings }, devChain: null });
  const network = networks.find(({ slug }) => slug === 'ethereum')!;
  const driver = createEvmDriver({
    caip2,
    chainId,
    rpcUrls: network.rpcUrls,
    tokens: [],
    blockTimeSeconds: 0.25,
    isQuiet: true,
    log: silentLog,
    nowMs: () => performance.now() * haste,
  });
  const context = { ...quiet.context, ...scene.admin, listDb: scene.admin.db };
  watchers = startWatchers(context, [{ caip2, networks: [network], driver }], 'test');
});
afterAll(async () => {
  await watchers.stop();
  node.close();
});

const latest = async (): Promise<number | undefined> => {
  const text = `select latest_number::int as latest from chains where caip2 = '${caip2}'`;
  return (await scene.admin.db.query<{ latest: number }>({ name: '', text }))[0]?.latest;
};

test('a network with one node and an unknown header format takes no new payments while reading goes on', async () => {
  await until(
    () => calls.create(body),
    ({ status }) => status === 200,
  );
  above = await chain.head();
  await chain.mine(3);
  const refused = await until(
    () => calls.create(body),
    ({ status }) => status === 503,
  );
  expectError(refused, 503, 'network_unavailable');
  expect(refused.json.error.message).toContain('unknown format');
  const { json } = await until(
    () => scene.client.call('GET', '/v1/networks/ethereum'),
    answer => answer.json.status === 'degraded',
  );
  expect(json).toMatchObject({ slug: 'ethereum', status: 'degraded' });
  await chain.mine(2);
  await until(latest, number => number === above + 5);
});
