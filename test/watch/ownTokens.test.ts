import { beforeAll, describe, expect, test, vi } from 'vitest';
import { expectError } from '../api/paymentCalls.ts';
import { until } from '../support/until.ts';
import { type FarChain, startFarChain } from './farChain.ts';
import { startWatchScene, type WatchScene } from './watchScene.ts';

vi.setConfig({ testTimeout: 120_000 });

const production = {
  symbol: 'VEUR',
  name: 'VNX Euro',
  decimals: 18,
  contractAddress: '0x6bA75D640bEbfe5dA1197bb5A2aff3327789b5d3',
};

let scene: WatchScene;
let far: FarChain;
let own: string;
let misjudged: string;
beforeAll(async () => {
  far = await startFarChain('arbitrum');
  await far.placeToken('USDC', 6);
  own = (await far.chain.deploy('TestToken', ['Loyalty', 'PTS', 2])).address;
  misjudged = (await far.chain.deploy('TestToken', ['Misjudged', 'BAD', 8])).address;
  const tokens = [
    { symbol: 'PTS', name: 'Loyalty points', decimals: 2, contractAddress: own },
    { symbol: 'BAD', name: 'Misjudged', decimals: 6, contractAddress: misjudged },
    { ...production, symbol: 'NONE' },
  ];
  scene = await startWatchScene({
    configFile: {
      networks: {
        sandbox: { arbitrum: { rpcUrls: [far.url], tokens, minAmounts: { PTS: '0.10' } } },
        production: { base: { tokens: [production] } },
      },
    },
  });
  await until(
    () => scene.florin.client.call('GET', '/v1/networks/arbitrum'),
    ({ json }) => json.status === 'operational',
  );
});

const currency = async (slug: string, symbol: string, environment: 'sandbox' | 'production' = 'sandbox') => {
  const { json } = await scene.florin.client.call('GET', `/v1/networks/${slug}`, { environment });
  return json.currencies.find((each: { symbol: string }) => each.symbol === symbol);
};

describe('a token of the configuration file', () => {
  test('is listed beside the others', async () => {
    expect(await currency('arbitrum', 'PTS')).toEqual({
      symbol: 'PTS',
      name: 'Loyalty points',
      decimals: 2,
      contractAddress: own,
      caip19: `${far.caip2}/erc20:${own}`,
      minAmount: '0.10',
    });
    expect(await currency('base', 'PTS')).toBeUndefined();
    expect(await currency('base', 'VEUR', 'production')).toMatchObject({
      contractAddress: production.contractAddress,
      decimals: 18,
    });
  });

  test('is paid in, to the base unit', async () => {
    const { json: created } = await scene.calls.create({ network: 'arbitrum', currency: 'pts', amount: '12.34' });
    expect(created).toMatchObject({ currency: 'PTS', amount: '12.34' });
    await far.chain.payToken(own, created.address, 1_234n);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ amountReceived: '12.34', exception: null });
  });

  test('is a stray where another currency was asked for', async () => {
    const { json: created } = await scene.calls.create({ network: 'arbitrum', currency: 'USDC', amount: '1' });
    await far.chain.payToken(own, created.address, 5n);
    const strayed = await until(
      () => scene.read(created.id),
      ({ strays }) => strays.length > 0,
    );
    expect(strayed).toMatchObject({ status: 'pending', strays: [{ contract: own, amount: '0.05' }] });
  });

  test('is disabled where the chain says other decimals, or nothing', async () => {
    for (const [symbol, problem] of [
      ['BAD', 'has 8 decimals instead of 6'],
      ['NONE', 'There is no token'],
    ] as const) {
      expect(await currency('arbitrum', symbol)).toBeUndefined();
      const answer = await scene.calls.create({ network: 'arbitrum', currency: symbol, amount: '1' });
      expectError(answer, 503, 'network_unavailable');
      expect(answer.json.error.message).toContain(problem);
    }
  });

  test('of production can be tried on the local chain', async () => {
    const test = await currency('base', 'VEUR');
    expect(test).toMatchObject({ name: 'VNX Euro', decimals: 18 });
    expect(test.contractAddress).not.toBe(production.contractAddress);
    const created = await scene.calls.made({ currency: 'VEUR', amount: '2.5' });
    await scene.chain.payToken(test.contractAddress, created.address, 25n * 10n ** 17n);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ amountReceived: '2.50' });
  });
});
