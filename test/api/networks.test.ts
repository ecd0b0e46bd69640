import { beforeAll, describe, expect, test } from 'vitest';
import type { Environment } from '../../src/core/environment.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import { expectError } from './paymentCalls.ts';

const slugs = ['arbitrum', 'avalanche', 'base', 'bsc', 'ethereum', 'optimism', 'polygon'];
const natives: Record<string, string> = { bsc: 'BNB', polygon: 'POL', avalanche: 'AVAX' };
const chainIds: Record<string, number> = {
  arbitrum: 42161,
  avalanche: 43114,
  base: 8453,
  bsc: 56,
  ethereum: 1,
  optimism: 10,
  polygon: 137,
};
type Currency = { symbol: string; decimals: number; contractAddress: string | null; caip19: string; minAmount: string };
type Network = { slug: string; status: string; caip2: string; nativeCurrency: string; currencies: Currency[] };

let scene: TestFlorin;
beforeAll(async () => {
  scene = await startTestFlorin();
  await until(
    () => get('/v1/networks'),
    answer => answer.json.data.every((each: Network) => each.status === 'operational'),
  );
});

const get = (path: string, environment: Environment = 'sandbox', key?: string): Promise<Answer> =>
  scene.client.call('GET', path, { environment, ...(key ? { key } : {}) });
const listOf = async (environment: Environment): Promise<Network[]> =>
  (await get('/v1/networks', environment)).json.data;

describe.each(['sandbox', 'production'] as const)('%s', environment => {
  test('lists every slug, sorted, without a key, and nothing else', async () => {
    const answer = await get('/v1/networks', environment);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.json)).toEqual(['data']);
    expect(answer.json.data.map((each: Network) => each.slug)).toEqual(slugs);
  });

  test('each network has these fields and no others', async () => {
    for (const network of await listOf(environment)) {
      expect(network).toEqual({
        slug: expect.any(String),
        name: expect.any(String),
        family: 'evm',
        environment,
        status: expect.stringMatching(/^(operational|degraded|down|maintenance)$/),
        caip2: expect.stringMatching(/^eip155:\d+$/),
        chainId: Number(network.caip2.slice('eip155:'.length)),
        nativeCurrency: natives[network.slug] ?? 'ETH',
        currencies: expect.any(Array),
        confirmationsRequired: expect.toSatisfy(value => value === null || Number.isInteger(value)),
        confirmationRule: expect.stringMatching(/^(finalized|safe|depth)$/),
        blockTimeSeconds: expect.any(Number),
        latestBlock: expect.toSatisfy(value => value === null || Number.isInteger(value)),
        lagSeconds: expect.toSatisfy(value => value === null || Number.isInteger(value)),
        checkedAt: expect.toSatisfy(value => value === null || !Number.isNaN(Date.parse(value))),
        explorerUrl: expect.toSatisfy(value => value === null || URL.canParse(value)),
      });
    }
  });

  test('each currency has these fields; the native coin is among them and has no contract', async () => {
    for (const { slug, caip2, nativeCurrency, currencies } of await listOf(environment)) {
      const native = currencies.filter(each => each.contractAddress === null);
      expect(
        native.map(each => [each.symbol, each.decimals]),
        slug,
      ).toEqual([[nativeCurrency, 18]]);
      expect(new Set(currencies.map(each => each.symbol)).size, slug).toBe(currencies.length);
      for (const currency of currencies) {
        expect(currency).toEqual({
          symbol: expect.stringMatching(/^[A-Z]{3,5}$/),
          name: expect.stringMatching(/\S/),
          decimals: expect.any(Number),
          contractAddress: currency.contractAddress === null ? null : expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
          caip19:
            currency.contractAddress === null
              ? expect.stringMatching(new RegExp(`^${caip2}/slip44:\\d+$`))
              : `${caip2}/erc20:${currency.contractAddress}`,
          minAmount: `0.${'1'.padStart(currency.decimals, '0')}`,
        });
      }
    }
  });

  test('stablecoins have 6 decimals, DAI 18, and all of BSC’s 18', async () => {
    for (const { slug, currencies } of await listOf(environment)) {
      for (const { symbol, decimals } of currencies) {
        const expected = slug === 'bsc' || !['USDC', 'USDT', 'EURC'].includes(symbol) ? 18 : 6;
        expect(decimals, `${symbol} on ${slug}`).toBe(expected);
      }
      expect(
        currencies.map(each => each.symbol),
        slug,
      ).toEqual(expect.arrayContaining(['USDC', 'USDT']));
    }
  });

  test('one by its slug is the same object as in the list', async () => {
    for (const { slug } of await listOf(environment)) {
      const one = await get(`/v1/networks/${slug}`, environment);
      expect(one.status).toBe(200);
      const listed = (await listOf(environment)).find(each => each.slug === slug)!;
      const { checkedAt: _one, latestBlock: _block, ...steady } = one.json;
      expect(listed).toMatchObject(steady);
    }
  });

  test.each(['bitcoin-cash', 'ethereum-sepolia', 'BASE', 'Base', 'base%20', '%00', '__proto__', 'eip155:1', '1'])(
    'an unknown slug is 404: %s',
    async slug => expectError(await get(`/v1/networks/${slug}`, environment), 404, 'not_found'),
  );
});

test('the sandbox says that a local dev chain stands behind every slug', async () => {
  for (const network of await listOf('sandbox')) {
    expect(network).toMatchObject({
      name: expect.stringContaining('local dev chain'),
      status: 'operational',
      caip2: 'eip155:31337',
      chainId: 31337,
      explorerUrl: null,
      lagSeconds: expect.any(Number),
      latestBlock: expect.any(Number),
    });
  }
});

test('each sandbox slug has test tokens of its own, with the symbols and decimals of its mainnet', async () => {
  const [sandbox, production] = [await listOf('sandbox'), await listOf('production')];
  const contracts = sandbox.flatMap(each => each.currencies.map(currency => currency.contractAddress)).filter(Boolean);
  expect(new Set(contracts).size).toBe(contracts.length);
  const shape = (networks: Network[]) =>
    networks.map(each => [each.slug, each.currencies.map(({ symbol, decimals }) => [symbol, decimals])]);
  expect(shape(sandbox)).toEqual(shape(production));
});

test('production without configuration is down everywhere, and says which chains would be there', async () => {
  for (const network of await listOf('production')) {
    expect(network).toMatchObject({
      status: 'down',
      chainId: chainIds[network.slug],
      latestBlock: null,
      lagSeconds: null,
      checkedAt: null,
      explorerUrl: expect.stringMatching(/^https:\/\//),
    });
  }
});

test('the status is measured again and again', async () => {
  const before = Date.parse((await get('/v1/networks/base')).json.checkedAt);
  await until(
    () => get('/v1/networks/base'),
    answer => Date.parse(answer.json.checkedAt) > before,
  );
});
