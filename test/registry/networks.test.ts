import { getAddress, isAddress } from 'viem';
import * as chains from 'viem/chains';
import { describe, expect, test } from 'vitest';
import {
  devBacking,
  isSlug,
  mainnets,
  type Slug,
  slugs,
  type Token,
  testnets,
} from '../../src/core/registry/backings.ts';
import { findCurrency, type NetworkSettings, resolveNetworks } from '../../src/core/registry/networks.ts';

/** Chain facts from viem, an independent source. */
const known: Record<Slug, { mainnet: chains.Chain; testnet: chains.Chain }> = {
  ethereum: { mainnet: chains.mainnet, testnet: chains.sepolia },
  polygon: { mainnet: chains.polygon, testnet: chains.polygonAmoy },
  base: { mainnet: chains.base, testnet: chains.baseSepolia },
  arbitrum: { mainnet: chains.arbitrum, testnet: chains.arbitrumSepolia },
  optimism: { mainnet: chains.optimism, testnet: chains.optimismSepolia },
  bsc: { mainnet: chains.bsc, testnet: chains.bscTestnet },
  avalanche: { mainnet: chains.avalanche, testnet: chains.avalancheFuji },
};

const fakeAddress = (slug: Slug, symbol: string): string => {
  const hex = Buffer.from(`${slug}/${symbol}`).toString('hex').padEnd(40, '0').slice(0, 40);
  return getAddress(`0x${hex}`);
};
const devChain = { tokenAddress: fakeAddress };
const backings = slugs.flatMap(slug => [mainnets[slug], testnets[slug], devBacking(slug, 31337, fakeAddress)]);
const rpc = (settings: Partial<NetworkSettings> = {}): NetworkSettings => ({
  rpcUrls: ['https://rpc.example'],
  ...settings,
});

describe('backings', () => {
  test.each(slugs)('%s has the chain ids and coins that others know', slug => {
    for (const kind of ['mainnet', 'testnet'] as const) {
      const ours = { mainnet: mainnets, testnet: testnets }[kind][slug];
      const theirs = known[slug][kind];
      expect(ours.slug).toBe(slug);
      expect(ours.kind).toBe(kind);
      expect(ours.chainId).toBe(theirs.id);
      expect(ours.caip2).toBe(`eip155:${theirs.id}`);
      expect(ours.nativeCurrency.decimals).toBe(theirs.nativeCurrency.decimals);
      if (kind === 'mainnet') expect(ours.nativeCurrency.symbol).toBe(theirs.nativeCurrency.symbol);
    }
    expect(testnets[slug].nativeCurrency).toEqual(mainnets[slug].nativeCurrency);
  });

  test.each(slugs)('%s is named as others name it, and leads to the explorer that others know', slug => {
    const ownNames = ['Ethereum Sepolia', 'Avalanche C-Chain'];
    const ownExplorers = ['https://sepolia-optimism.etherscan.io'];
    for (const kind of ['mainnet', 'testnet'] as const) {
      const { name, explorerUrl, nativeCurrency } = { mainnet: mainnets, testnet: testnets }[kind][slug];
      const theirs = known[slug][kind];
      expect([theirs.name, ...ownNames]).toContain(name);
      expect([theirs.blockExplorers!.default.url, ...ownExplorers]).toContain(explorerUrl);
      if (kind === 'mainnet') expect(nativeCurrency.name).toBe(theirs.nativeCurrency.name);
    }
  });

  test('names each token in full', () => {
    const names = new Set(backings.flatMap(({ tokens }) => tokens.map(({ symbol, name }) => `${symbol}: ${name}`)));
    expect([...names].sort()).toEqual(['DAI: Dai', 'EURC: Euro Coin', 'USDC: USD Coin', 'USDT: Tether USD']);
  });

  test('knows its slugs from other words', () => {
    for (const slug of slugs) expect(isSlug(slug)).toBe(true);
    for (const other of ['', 'Ethereum', 'constructor']) expect(isSlug(other)).toBe(false);
  });

  test('has checksummed addresses, each once per chain', () => {
    for (const backing of backings) {
      const addresses = [...backing.tokens, ...backing.lookAlikes].map(token => token.address);
      for (const address of addresses) expect(isAddress(address, { strict: true })).toBe(true);
      for (const address of addresses) expect(getAddress(address)).toBe(address);
      expect(new Set(addresses.map(address => address.toLowerCase())).size).toBe(addresses.length);
    }
  });

  test('knows the bridged and wrapped tokens of every mainnet by name', () => {
    for (const { slug, tokens, lookAlikes, nativeCurrency } of Object.values(mainnets)) {
      const symbols = lookAlikes.map(({ symbol }) => symbol);
      expect(symbols, slug).toContain(`W${nativeCurrency.symbol}`);
      for (const { symbol } of tokens) expect(symbols).not.toContain(symbol);
      for (const { name } of lookAlikes) expect(name).toMatch(/^(Wrapped|Bridged) /);
    }
    const symbolsOf = (slug: Slug): string[] => mainnets[slug].lookAlikes.map(({ symbol }) => symbol);
    for (const slug of ['polygon', 'arbitrum', 'optimism', 'avalanche'] as const) {
      expect(symbolsOf(slug)).toContain('USDC.e');
    }
    expect(symbolsOf('base')).toContain('USDbC');
  });

  test('a look-alike that the operator lists is a currency and no longer a look-alike', () => {
    const [bridged] = mainnets.base.lookAlikes as [Token, ...Token[]];
    const token = { ...bridged, symbol: 'USDBC', address: bridged.address.toLowerCase() };
    const configured = { base: { rpcUrls: ['https://node.example'], tokens: [token] } };
    const networks = resolveNetworks({ environment: 'production', configured, devChain: null });
    const base = networks.find(({ slug }) => slug === 'base')!;
    expect(base.lookAlikes.map(({ symbol }) => symbol)).toEqual(['WETH']);
    expect(base.currencies.map(({ symbol }) => symbol)).toContain('USDBC');
  });

  test('has a floor for dust: a cent for pegged tokens, less than one for coins, none for tokens of an operator', () => {
    const price: Record<string, number> = { ETH: 10_000, POL: 5, BNB: 2_500, AVAX: 250 };
    for (const { nativeCurrency, tokens } of backings) {
      expect(Number(nativeCurrency.dustFloor) * price[nativeCurrency.symbol]!).toBeCloseTo(0.01);
      for (const { dustFloor } of tokens) expect(dustFloor).toBe('0.01');
    }
    const token = { symbol: 'ABC', name: 'Abc', address: '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174', decimals: 2 };
    const configured = { base: { rpcUrls: ['https://node.example'], tokens: [token] } };
    const networks = resolveNetworks({ environment: 'production', configured, devChain: null });
    const { currencies } = networks.find(({ slug }) => slug === 'base')!;
    const floorOf = (symbol: string) => currencies.find(currency => currency.symbol === symbol)?.dustFloor;
    expect([floorOf('ABC'), floorOf('USDC'), floorOf('ETH')]).toEqual([0n, 10_000n, 10n ** 12n]);
  });

  test('has no symbol twice and no chain behind two slugs, but for the dev chain', () => {
    for (const { nativeCurrency, tokens } of backings) {
      const symbols = [nativeCurrency.symbol, ...tokens.map(token => token.symbol)];
      expect(new Set(symbols).size).toBe(symbols.length);
    }
    const real = [...Object.values(mainnets), ...Object.values(testnets)].map(backing => backing.caip2);
    expect(new Set(real).size).toBe(real.length);
  });

  test('has the decimals of the real tokens: 18 for all on BSC, elsewhere 18 for DAI and 6 for the rest', () => {
    for (const backing of backings) {
      for (const token of backing.tokens) {
        const expected = backing.slug === 'bsc' || token.symbol === 'DAI' ? 18 : 6;
        expect([backing.name, token.symbol, token.decimals]).toEqual([backing.name, token.symbol, expected]);
      }
    }
  });

  test('lists on a test network only what its mainnet lists, with the same decimals', () => {
    for (const slug of slugs) {
      const onMainnet = new Map(mainnets[slug].tokens.map(token => [token.symbol, token.decimals]));
      for (const token of testnets[slug].tokens) expect(onMainnet.get(token.symbol)).toBe(token.decimals);
    }
    expect(testnets.bsc.tokens).toEqual([]);
  });

  test('waits for finality, on Polygon for 64 blocks as well, on a dev chain for 2 blocks', () => {
    for (const { slug, kind, rule } of backings) {
      if (kind === 'devchain') expect(rule).toEqual({ kind: 'depth', depth: 2 });
      else expect(rule).toEqual({ kind: 'finalized', depth: slug === 'polygon' ? 64 : null });
    }
  });
});

describe('resolveNetworks', () => {
  const sorted = ['arbitrum', 'avalanche', 'base', 'bsc', 'ethereum', 'optimism', 'polygon'];

  test('lists every slug in order in both environments', () => {
    for (const environment of ['production', 'sandbox'] as const) {
      const networks = resolveNetworks({ environment, configured: {}, devChain });
      expect(networks.map(network => network.slug)).toEqual(sorted);
      for (const network of networks) expect(network.environment).toBe(environment);
    }
  });

  test('backs production with mainnets, configured or not, and never with the dev chain', () => {
    const networks = resolveNetworks({ environment: 'production', configured: { base: rpc() }, devChain });
    for (const network of networks) {
      expect(network.backing).toBe('mainnet');
      expect(network.rpcUrls).toEqual(network.slug === 'base' ? ['https://rpc.example'] : []);
    }
  });

  test('backs a sandbox slug with its test network once that is configured, otherwise with the dev chain', () => {
    const configured = { ethereum: rpc(), polygon: rpc({ rpcUrls: [] }) };
    const networks = resolveNetworks({ environment: 'sandbox', configured, devChain });
    for (const { slug, backing, caip2, name, explorerUrl } of networks) {
      if (slug === 'ethereum') {
        expect([backing, caip2, name]).toEqual(['testnet', 'eip155:11155111', 'Ethereum Sepolia']);
      } else {
        expect([backing, caip2, explorerUrl]).toEqual(['devchain', 'eip155:31337', null]);
        expect(name).toBe(`${mainnets[slug].name} (local dev chain)`);
      }
    }
  });

  test('leaves a sandbox slug unconfigured where no dev chain runs', () => {
    const networks = resolveNetworks({ environment: 'sandbox', configured: {}, devChain: null });
    for (const network of networks) expect([network.backing, network.rpcUrls]).toEqual(['testnet', []]);
  });

  test('gives the dev chain its own contracts under the symbols and decimals of the mainnet', () => {
    const networks = resolveNetworks({ environment: 'sandbox', configured: {}, devChain });
    for (const { slug, currencies, nativeCurrency } of networks) {
      const [native, ...tokens] = currencies;
      expect(native).toMatchObject({ symbol: nativeCurrency, contractAddress: null, caip19: 'eip155:31337/slip44:1' });
      const kinds = tokens.map(({ symbol, decimals }) => ({ symbol, decimals }));
      expect(kinds).toEqual(mainnets[slug].tokens.map(({ symbol, decimals }) => ({ symbol, decimals })));
      for (const token of tokens) expect(token.contractAddress).toBe(fakeAddress(slug, token.symbol));
    }
  });

  test('names assets by CAIP-19', () => {
    const networks = resolveNetworks({ environment: 'production', configured: {}, devChain: null });
    const native = Object.fromEntries(networks.map(network => [network.slug, network.currencies[0]?.caip19]));
    expect(native).toEqual({
      arbitrum: 'eip155:42161/slip44:60',
      avalanche: 'eip155:43114/slip44:9005',
      base: 'eip155:8453/slip44:60',
      bsc: 'eip155:56/slip44:714',
      ethereum: 'eip155:1/slip44:60',
      optimism: 'eip155:10/slip44:60',
      polygon: 'eip155:137/slip44:966',
    });
    const ethereum = networks.find(network => network.slug === 'ethereum')!;
    expect(findCurrency(ethereum, 'USDC')?.caip19).toBe('eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48');
  });
});

describe('overrides', () => {
  const settings = rpc({
    minAmounts: { USDC: '1.50', ETH: '0.001' },
    rule: { kind: 'safe', depth: null },
    tiers: [
      { currency: 'USDC', from: '1000', rule: { kind: 'depth', depth: 12 } },
      { currency: 'USDC', from: '50000', rule: { kind: 'finalized', depth: null } },
      { currency: 'DAI', from: '5', rule: { kind: 'depth', depth: 3 } },
    ],
  });
  const resolve = (environment: 'production' | 'sandbox') =>
    resolveNetworks({ environment, configured: { ethereum: settings }, devChain }).find(
      each => each.slug === 'ethereum',
    )!;

  test('takes minimum amounts in token units, one base unit where none is given', () => {
    const ethereum = resolve('production');
    expect(findCurrency(ethereum, 'USDC')?.minAmount).toBe(1_500_000n);
    expect(findCurrency(ethereum, 'ETH')?.minAmount).toBe(10n ** 15n);
    expect(findCurrency(ethereum, 'USDT')?.minAmount).toBe(1n);
  });

  test('takes a rule, and tiers from amounts in token units, per currency', () => {
    const ethereum = resolve('production');
    expect(ethereum.rule).toEqual({ kind: 'safe', depth: null });
    expect(ethereum.tiers).toEqual([
      { currency: 'DAI', from: 5n * 10n ** 18n, rule: { kind: 'depth', depth: 3 } },
      { currency: 'USDC', from: 50_000_000_000n, rule: { kind: 'finalized', depth: null } },
      { currency: 'USDC', from: 1_000_000_000n, rule: { kind: 'depth', depth: 12 } },
    ]);
  });

  test('drops tiers of tokens that the backing lacks', () => {
    expect(resolve('sandbox').tiers.map(tier => tier.currency)).toEqual(['USDC', 'USDC']);
  });

  test('refuses amounts that the token cannot hold', () => {
    const configured = { ethereum: rpc({ minAmounts: { USDC: '0.0000001' } }) };
    expect(() => resolveNetworks({ environment: 'production', configured, devChain })).toThrow(RangeError);
  });
});

describe('findCurrency', () => {
  test('ignores the case of ASCII letters and nothing else', () => {
    const [network] = resolveNetworks({ environment: 'production', configured: {}, devChain: null });
    for (const text of ['USDC', 'usdc', 'UsDc']) expect(findCurrency(network!, text)?.symbol).toBe('USDC');
    for (const text of ['', 'USD', ' USDC', 'USDC ', 'uſdc', 'EURC', 'constructor', '__proto__']) {
      expect(findCurrency(network!, text)).toBeUndefined();
    }
  });
});
