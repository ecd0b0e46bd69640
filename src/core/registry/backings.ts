import { type LookAlike, lookAlikes } from './lookAlikes.ts';

export const slugs = ['ethereum', 'polygon', 'base', 'arbitrum', 'optimism', 'bsc', 'avalanche'] as const;
export type Slug = (typeof slugs)[number];

export const isSlug = (value: string): value is Slug => (slugs as readonly string[]).includes(value);

/** With a tag, a depth that is not null must be reached too. */
export type Rule = { readonly kind: 'finalized' | 'safe' | 'depth'; readonly depth: number | null };

export type Token = {
  readonly symbol: string;
  readonly name: string;
  readonly address: string;
  readonly decimals: number;
  /** In token units. Smaller sums may be dust. Absent if what the token is worth is unknown: then no sum is. */
  readonly dustFloor?: string;
};

export type Coin = {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: 18;
  readonly dustFloor: string;
};

/** A chain that can back a slug. */
export type Backing = {
  readonly slug: Slug;
  readonly kind: 'mainnet' | 'testnet' | 'devchain';
  readonly name: string;
  readonly caip2: string;
  readonly chainId: number;
  readonly nativeCurrency: Coin;
  readonly slip44: number;
  readonly explorerUrl: string | null;
  readonly blockTimeSeconds: number;
  readonly rule: Rule;
  readonly tokens: readonly Token[];
  /** Tokens that people send by mistake for a listed one. Watched and named, never credited. */
  readonly lookAlikes: readonly LookAlike[];
};

const finalized: Rule = { kind: 'finalized', depth: null };
// Polygon's tag alone is not trusted: 64 blocks are required too.
const finalizedAnd64: Rule = { kind: 'finalized', depth: 64 };
const devRule: Rule = { kind: 'depth', depth: 2 };

/** SLIP-44 has one coin type for all test networks. */
const testCoinType = 1;

// Prices move, and a payment's terms do not. So a coin's floor is worth 0.01 USD at about twice the highest price that
// the coin has had (10,000, 5, 2,500 and 250 USD), and less than that at any lower price.
const ether: Coin = { symbol: 'ETH', name: 'Ether', decimals: 18, dustFloor: '0.000001' };
const pol: Coin = { symbol: 'POL', name: 'POL', decimals: 18, dustFloor: '0.002' };
const bnb: Coin = { symbol: 'BNB', name: 'BNB', decimals: 18, dustFloor: '0.000004' };
const avax: Coin = { symbol: 'AVAX', name: 'Avalanche', decimals: 18, dustFloor: '0.00004' };

/** All listed tokens are pegged to the dollar or the euro. */
const peggedDustFloor = '0.01';

const tokenName = { USDC: 'USD Coin', USDT: 'Tether USD', DAI: 'Dai', EURC: 'Euro Coin' } as const;

const token = (symbol: keyof typeof tokenName, address: string, decimals: number): Token => ({
  symbol,
  name: tokenName[symbol],
  address,
  decimals,
  dustFloor: peggedDustFloor,
});

const caip2 = (chainId: number): string => `eip155:${chainId}`;

type Facts = Omit<Backing, 'kind' | 'slug' | 'caip2' | 'slip44' | 'rule' | 'lookAlikes'> & { readonly rule?: Rule };

const mainnet = (slug: Slug, slip44: number, facts: Facts): Backing => ({
  rule: finalized,
  ...facts,
  slug,
  kind: 'mainnet',
  caip2: caip2(facts.chainId),
  slip44,
  lookAlikes: lookAlikes[facts.chainId] ?? [],
});

const testnet = (slug: Slug, facts: Facts): Backing => ({
  rule: finalized,
  ...facts,
  slug,
  kind: 'testnet',
  caip2: caip2(facts.chainId),
  slip44: testCoinType,
  lookAlikes: lookAlikes[facts.chainId] ?? [],
});

export const mainnets: Readonly<Record<Slug, Backing>> = {
  ethereum: mainnet('ethereum', 60, {
    name: 'Ethereum',
    chainId: 1,
    nativeCurrency: ether,
    explorerUrl: 'https://etherscan.io',
    blockTimeSeconds: 12,
    tokens: [
      token('USDC', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 6),
      token('USDT', '0xdAC17F958D2ee523a2206206994597C13D831ec7', 6),
      token('DAI', '0x6B175474E89094C44Da98b954EedeAC495271d0F', 18),
      token('EURC', '0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c', 6),
    ],
  }),
  polygon: mainnet('polygon', 966, {
    name: 'Polygon',
    chainId: 137,
    nativeCurrency: pol,
    explorerUrl: 'https://polygonscan.com',
    blockTimeSeconds: 2,
    rule: finalizedAnd64,
    tokens: [
      token('USDC', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 6),
      token('USDT', '0xc2132D05D31c914a87C6611C10748AEb04B58e8F', 6),
      token('DAI', '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063', 18),
    ],
  }),
  base: mainnet('base', 60, {
    name: 'Base',
    chainId: 8453,
    nativeCurrency: ether,
    explorerUrl: 'https://basescan.org',
    blockTimeSeconds: 2,
    tokens: [
      token('USDC', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 6),
      token('USDT', '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', 6),
      token('DAI', '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb', 18),
      token('EURC', '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', 6),
    ],
  }),
  arbitrum: mainnet('arbitrum', 60, {
    name: 'Arbitrum One',
    chainId: 42161,
    nativeCurrency: ether,
    explorerUrl: 'https://arbiscan.io',
    blockTimeSeconds: 0.25,
    tokens: [
      token('USDC', '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 6),
      token('USDT', '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', 6),
      token('DAI', '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', 18),
    ],
  }),
  optimism: mainnet('optimism', 60, {
    name: 'OP Mainnet',
    chainId: 10,
    nativeCurrency: ether,
    explorerUrl: 'https://optimistic.etherscan.io',
    blockTimeSeconds: 2,
    tokens: [
      token('USDC', '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 6),
      token('USDT', '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58', 6),
      token('DAI', '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', 18),
    ],
  }),
  bsc: mainnet('bsc', 714, {
    name: 'BNB Smart Chain',
    chainId: 56,
    nativeCurrency: bnb,
    explorerUrl: 'https://bscscan.com',
    blockTimeSeconds: 0.75,
    tokens: [
      token('USDC', '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 18),
      token('USDT', '0x55d398326f99059fF775485246999027B3197955', 18),
      token('DAI', '0x1AF3F329e8BE154074D8769D1FFa4eE058B1DBc3', 18),
    ],
  }),
  avalanche: mainnet('avalanche', 9005, {
    name: 'Avalanche C-Chain',
    chainId: 43114,
    nativeCurrency: avax,
    explorerUrl: 'https://snowtrace.io',
    blockTimeSeconds: 1.7,
    tokens: [
      token('USDC', '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', 6),
      token('USDT', '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7', 6),
      token('EURC', '0xC891EB4cbdEFf6e073e859e987815Ed1505c2ACD', 6),
    ],
  }),
};

export const testnets: Readonly<Record<Slug, Backing>> = {
  ethereum: testnet('ethereum', {
    name: 'Ethereum Sepolia',
    chainId: 11155111,
    nativeCurrency: ether,
    explorerUrl: 'https://sepolia.etherscan.io',
    blockTimeSeconds: 12,
    tokens: [
      token('USDC', '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238', 6),
      token('USDT', '0x7169D38820dfd117C3FA1f22a697dBA58d90BA06', 6),
      token('EURC', '0x08210F9170F89Ab7658F0B5E3fF39b0E03C594D4', 6),
    ],
  }),
  polygon: testnet('polygon', {
    name: 'Polygon Amoy',
    chainId: 80002,
    nativeCurrency: pol,
    explorerUrl: 'https://amoy.polygonscan.com',
    blockTimeSeconds: 2,
    rule: finalizedAnd64,
    tokens: [token('USDC', '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582', 6)],
  }),
  base: testnet('base', {
    name: 'Base Sepolia',
    chainId: 84532,
    nativeCurrency: ether,
    explorerUrl: 'https://sepolia.basescan.org',
    blockTimeSeconds: 2,
    tokens: [
      token('USDC', '0x036CbD53842c5426634e7929541eC2318f3dCF7e', 6),
      token('EURC', '0x808456652fdb597867f38412077A9182bf77359F', 6),
    ],
  }),
  arbitrum: testnet('arbitrum', {
    name: 'Arbitrum Sepolia',
    chainId: 421614,
    nativeCurrency: ether,
    explorerUrl: 'https://sepolia.arbiscan.io',
    blockTimeSeconds: 0.25,
    tokens: [token('USDC', '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d', 6)],
  }),
  optimism: testnet('optimism', {
    name: 'OP Sepolia',
    chainId: 11155420,
    nativeCurrency: ether,
    explorerUrl: 'https://sepolia-optimism.etherscan.io',
    blockTimeSeconds: 2,
    tokens: [token('USDC', '0x5fd84259d66Cd46123540766Be93DFE6D43130D7', 6)],
  }),
  bsc: testnet('bsc', {
    name: 'BNB Smart Chain Testnet',
    chainId: 97,
    nativeCurrency: bnb,
    explorerUrl: 'https://testnet.bscscan.com',
    blockTimeSeconds: 0.75,
    tokens: [],
  }),
  avalanche: testnet('avalanche', {
    name: 'Avalanche Fuji',
    chainId: 43113,
    nativeCurrency: avax,
    explorerUrl: 'https://testnet.snowtrace.io',
    blockTimeSeconds: 1.7,
    tokens: [
      token('USDC', '0x5425890298aed601595a70AB815c96711a31Bc65', 6),
      token('EURC', '0x5E44db7996c682E92a960b65AC713a54AD815c6B', 6),
    ],
  }),
};

/** The local dev chain as backing of a slug: the same coin and token symbols, with its own contracts. */
export const devBacking = (
  slug: Slug,
  chainId: number,
  tokenAddress: (slug: Slug, symbol: string) => string,
  more: readonly Token[] = [],
): Backing => {
  const model = mainnets[slug];
  return {
    slug,
    kind: 'devchain',
    name: `${model.name} (local dev chain)`,
    caip2: caip2(chainId),
    chainId,
    nativeCurrency: model.nativeCurrency,
    slip44: testCoinType,
    explorerUrl: null,
    blockTimeSeconds: 1,
    rule: devRule,
    lookAlikes: [],
    tokens: [...model.tokens, ...more].map(each => ({ ...each, address: tokenAddress(slug, each.symbol) })),
  };
};
