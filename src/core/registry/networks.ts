import type { Environment } from '../environment.ts';
import { parseAmount } from '../money.ts';
import { type Backing, devBacking, mainnets, type Rule, type Slug, slugs, type Token, testnets } from './backings.ts';
import type { LookAlike } from './lookAlikes.ts';

export type Currency = {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** Null for the native coin. */
  readonly contractAddress: string | null;
  readonly caip19: string;
  /** Base units. */
  readonly minAmount: bigint;
  /** Base units. Frozen in the terms of a payment. */
  readonly dustFloor: bigint;
};

/** From this amount (base units) on, this rule replaces the network's. */
export type Tier = { readonly currency: string; readonly from: bigint; readonly rule: Rule };

export type Network = {
  readonly environment: Environment;
  readonly slug: Slug;
  readonly name: string;
  readonly family: 'evm';
  readonly caip2: string;
  readonly chainId: number;
  readonly nativeCurrency: string;
  readonly currencies: readonly Currency[];
  /** Tokens that are watched and named but cannot be asked for. */
  readonly lookAlikes: readonly LookAlike[];
  readonly rule: Rule;
  /** Highest amount first. */
  readonly tiers: readonly Tier[];
  readonly blockTimeSeconds: number;
  readonly explorerUrl: string | null;
  /** Empty if none is configured. */
  readonly rpcUrls: readonly string[];
  readonly backing: Backing['kind'];
};

/** The operator's settings for a slug in one environment. Amounts are decimal strings in token units. */
export type NetworkSettings = {
  readonly rpcUrls: readonly string[];
  /** In addition to the tokens in the registry. */
  readonly tokens?: readonly Token[];
  readonly minAmounts?: Readonly<Record<string, string>>;
  readonly rule?: Rule;
  readonly tiers?: readonly { readonly currency: string; readonly from: string; readonly rule: Rule }[];
};

export type DevChain = {
  readonly tokenAddress: (slug: Slug, symbol: string) => string;
  /** In addition to the tokens of the slug's mainnet. */
  readonly moreTokens?: (slug: Slug) => readonly Token[];
  readonly rpcUrls?: readonly string[];
};

type Registry = {
  readonly environment: Environment;
  readonly configured: Readonly<Partial<Record<Slug, NetworkSettings>>>;
  /** Null if no local dev chain runs. */
  readonly devChain: DevChain | null;
};

export const devChainId = 31337;

/** All slugs of an environment with the chain that backs each, sorted by slug. */
export const resolveNetworks = (registry: Registry): Network[] =>
  [...slugs].sort().map(slug => resolveNetwork(registry, slug));

const resolveNetwork = ({ environment, configured, devChain }: Registry, slug: Slug): Network => {
  const settings = configured[slug];
  const rpcUrls = settings?.rpcUrls ?? [];
  if (environment === 'production') return build(environment, mainnets[slug], rpcUrls, settings);
  if (rpcUrls.length > 0 || devChain === null) return build(environment, testnets[slug], rpcUrls, settings);
  const backing = devBacking(slug, devChainId, devChain.tokenAddress, devChain.moreTokens?.(slug));
  return build(environment, backing, devChain.rpcUrls ?? [], settings);
};

const build = (
  environment: Environment,
  backing: Backing,
  rpcUrls: readonly string[],
  settings: NetworkSettings | undefined,
): Network => {
  const currencies = currenciesOf(backing, settings?.tokens ?? [], settings?.minAmounts ?? {});
  return {
    environment,
    slug: backing.slug,
    name: backing.name,
    family: 'evm',
    caip2: backing.caip2,
    chainId: backing.chainId,
    nativeCurrency: backing.nativeCurrency.symbol,
    currencies,
    // An operator may list such a token as a currency. Then it is one.
    lookAlikes: backing.lookAlikes.filter(
      ({ address }) =>
        !currencies.some(({ contractAddress }) => contractAddress?.toLowerCase() === address.toLowerCase()),
    ),
    rule: settings?.rule ?? backing.rule,
    tiers: tiersOf(currencies, settings?.tiers ?? []),
    blockTimeSeconds: backing.blockTimeSeconds,
    explorerUrl: backing.explorerUrl,
    rpcUrls: [...rpcUrls],
    backing: backing.kind,
  };
};

const currenciesOf = (
  backing: Backing,
  more: readonly Token[],
  minAmounts: Readonly<Record<string, string>>,
): Currency[] => {
  const minAmount = (symbol: string, decimals: number): bigint => {
    const text = Object.hasOwn(minAmounts, symbol) ? minAmounts[symbol] : undefined;
    return text === undefined ? 1n : unitsOrThrow(text, decimals, `minAmounts.${symbol}`);
  };
  const dustFloor = (text: string | undefined, decimals: number): bigint =>
    text === undefined ? 0n : unitsOrThrow(text, decimals, 'dustFloor');
  const { symbol, name, decimals } = backing.nativeCurrency;
  const native: Currency = {
    symbol,
    name,
    decimals,
    contractAddress: null,
    caip19: `${backing.caip2}/slip44:${backing.slip44}`,
    minAmount: minAmount(symbol, decimals),
    dustFloor: dustFloor(backing.nativeCurrency.dustFloor, decimals),
  };
  const tokens = [...backing.tokens, ...more].map(token => ({
    symbol: token.symbol,
    name: token.name,
    decimals: token.decimals,
    contractAddress: token.address,
    caip19: `${backing.caip2}/erc20:${token.address}`,
    minAmount: minAmount(token.symbol, token.decimals),
    dustFloor: dustFloor(token.dustFloor, token.decimals),
  }));
  return [native, ...tokens];
};

const tiersOf = (currencies: readonly Currency[], tiers: NonNullable<NetworkSettings['tiers']>): Tier[] => {
  const applicable = tiers.flatMap(tier => {
    // A test network may lack a token of the slug's mainnet. Its tier then does not apply.
    const currency = currencies.find(each => each.symbol === tier.currency);
    if (currency === undefined) return [];
    return [{ ...tier, from: unitsOrThrow(tier.from, currency.decimals, `tiers.${tier.currency}`) }];
  });
  return applicable.sort((a, b) => (a.from < b.from ? 1 : a.from > b.from ? -1 : 0));
};

const unitsOrThrow = (text: string, decimals: number, where: string): bigint => {
  const parsed = parseAmount(text, decimals);
  if (!parsed.ok) throw new RangeError(`${where} is not an amount (${parsed.problem})`);
  return parsed.units;
};

/** Case-insensitive in ASCII only: with Unicode case folding, other letters could spell a symbol. */
export const findCurrency = (network: Network, text: string): Currency | undefined => {
  if (!/^[A-Za-z0-9]{1,16}$/.test(text)) return undefined;
  const symbol = text.toUpperCase();
  return network.currencies.find(currency => currency.symbol === symbol);
};
