import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isZeroAddress, parseEvmAddress } from '../chains/evm/address.ts';
import { type Environment, environments } from '../core/environment.ts';
import { parseAmount } from '../core/money.ts';
import {
  type Backing,
  isSlug,
  mainnets,
  type Rule,
  type Slug,
  slugs,
  type Token,
  testnets,
} from '../core/registry/backings.ts';
import type { NetworkSettings } from '../core/registry/networks.ts';

export type ConfiguredNetworks = Readonly<Record<Environment, Readonly<Partial<Record<Slug, NetworkSettings>>>>>;

type Loaded = { readonly networks: ConfiguredNetworks; readonly problems: readonly string[] };
type Report = (path: string, why: string) => void;
type Fields = Readonly<Record<string, unknown>>;
type TierSettings = NonNullable<NetworkSettings['tiers']>[number];

const configFileNames = ['florin.config.json', 'florin.config.js', 'florin.config.mjs', 'florin.config.ts'];

const maxRpcUrls = 16;
const maxTiers = 32;
const maxDepth = 256;
const maxTokens = 100;
/** With more decimals, the largest amount would not fit into the database. */
const maxDecimals = 24;

/** Finds and validates florin.config.* in a directory. The file is optional, but two are an error. */
export const loadConfigFile = async (directory: string): Promise<Loaded> => {
  const empty = { production: {}, sandbox: {} };
  // Lists the directory, so that florin.config.yaml is an error and not ignored.
  const found = (await readdir(directory)).filter(name => name.startsWith('florin.config.'));
  const [name] = found;
  if (name === undefined) return { networks: empty, problems: [] };
  if (found.length > 1) {
    return { networks: empty, problems: [`There must be one configuration file, not ${found.sort().join(' and ')}`] };
  }
  if (!configFileNames.includes(name)) {
    return { networks: empty, problems: [`${name} is not one of ${configFileNames.join(', ')}`] };
  }
  const content = await readContent(join(directory, name));
  if (content === undefined) return { networks: empty, problems: [`${name} could not be read or evaluated`] };
  const problems: string[] = [];
  const networks = parseContent(content.value, (path, why) => void problems.push(`${name}: ${path} ${why}`));
  return { networks, problems };
};

/** Undefined if the file fails. The error is not repeated, because it may quote an RPC URL with its key. */
const readContent = async (path: string): Promise<{ value: unknown } | undefined> => {
  try {
    if (path.endsWith('.json')) return { value: JSON.parse(await readFile(path, 'utf8')) };
    const module: { default?: unknown } = await import(pathToFileURL(path).href);
    return { value: module.default };
  } catch {
    return undefined;
  }
};

const parseContent = (content: unknown, report: Report): ConfiguredNetworks => {
  const networks: Record<Environment, Partial<Record<Slug, NetworkSettings>>> = { production: {}, sandbox: {} };
  const root = fields(content, 'the file', ['networks'], report);
  const perEnvironment = fields(root?.networks ?? {}, 'networks', environments, report);
  // Production first: the sandbox's local chain also has production's tokens.
  for (const environment of environments) {
    const path = `networks.${environment}`;
    const isGiven = perEnvironment !== undefined && Object.hasOwn(perEnvironment, environment);
    const bySlug = isGiven ? fields(perEnvironment[environment], path, slugs, report) : undefined;
    for (const [slug, value] of Object.entries(bySlug ?? {})) {
      if (!isSlug(slug)) continue;
      const backing = environment === 'production' ? mainnets[slug] : testnets[slug];
      const more = networks.production[slug]?.tokens ?? [];
      networks[environment][slug] = parseNetwork(value, `${path}.${slug}`, { backing, more }, report);
    }
  }
  return networks;
};

/** The chain of the RPC URLs, and the tokens already added to the same slug. */
type Place = { readonly backing: Backing; readonly more: readonly Token[] };

const parseNetwork = (value: unknown, path: string, { backing, more }: Place, report: Report): NetworkSettings => {
  const given = fields(value, path, ['rpcUrls', 'tokens', 'minAmounts', 'rule', 'tiers'], report) ?? {};
  const rule = given.rule === undefined ? undefined : parseRule(given.rule, `${path}.rule`, report);
  const rpcUrls = parseRpcUrls(given.rpcUrls ?? [], `${path}.rpcUrls`, report);
  const tokens = given.tokens === undefined ? [] : parseTokens(given.tokens, `${path}.tokens`, backing, report);
  if (tokens.length > 0 && rpcUrls.length === 0 && backing.kind === 'testnet')
    report(`${path}.tokens`, 'needs rpcUrls: on the local chain, only tokens of production have test tokens');
  const currencies = [...tokens, ...more, ...listedOn(mainnets[backing.slug])];
  const symbols = currencies.map(({ symbol }) => symbol);
  const minAmounts = fields(given.minAmounts ?? {}, `${path}.minAmounts`, symbols, report) ?? {};
  for (const [symbol, amount] of Object.entries(minAmounts)) {
    checkAmount(amount, `${path}.minAmounts.${symbol}`, currencies, symbol, report);
  }
  const tiers = items(given.tiers ?? [], `${path}.tiers`, maxTiers, report);
  return {
    rpcUrls,
    minAmounts: minAmounts as Record<string, string>,
    tiers: tiers.flatMap((tier, index) => parseTier(tier, `${path}.tiers[${index}]`, currencies, report) ?? []),
    ...(tokens.length === 0 ? {} : { tokens }),
    ...(rule === undefined ? {} : { rule }),
  };
};

const parseTokens = (value: unknown, path: string, backing: Backing, report: Report): readonly Token[] => {
  const tokens: Token[] = [];
  items(value, path, maxTokens, report).forEach((item, index) => {
    const at = `${path}[${index}]`;
    const token = parseToken(item, at, report);
    if (token === undefined) return;
    const all = [...backing.tokens, ...tokens];
    const same = all.find(({ address }) => address === token.address);
    if ([...listedOn(backing), ...tokens].some(({ symbol }) => symbol === token.symbol))
      report(`${at}.symbol`, `is in use: ${backing.name} already has the currency ${token.symbol}`);
    else if (same !== undefined) report(`${at}.contractAddress`, `is already listed as ${same.symbol}`);
    else tokens.push(token);
  });
  return tokens;
};

const parseToken = (value: unknown, path: string, report: Report): Token | undefined => {
  const given = fields(value, path, ['symbol', 'name', 'decimals', 'contractAddress'], report);
  if (given === undefined) return undefined;
  const { symbol, name, decimals, contractAddress: address } = given;
  const isText = (text: unknown, form: RegExp): text is string => typeof text === 'string' && form.test(text);
  if (!isText(symbol, /^[A-Z0-9]{1,16}$/))
    return void report(`${path}.symbol`, 'must be 1 to 16 upper-case letters and digits');
  if (!isText(name, /^(?=.*\S)[^\p{C}]{1,64}$/u))
    return void report(`${path}.name`, 'must be a text of 1 to 64 printable characters');
  if (typeof decimals !== 'number' || !Number.isInteger(decimals) || decimals < 0 || decimals > maxDecimals)
    return void report(`${path}.decimals`, `must be a whole number from 0 to ${maxDecimals}`);
  if (typeof address !== 'string' || parseEvmAddress(address) !== address || isZeroAddress(address))
    return void report(`${path}.contractAddress`, 'must be the address of a contract, in mixed case with its checksum');
  return { symbol, name, decimals, address };
};

const parseRpcUrls = (value: unknown, path: string, report: Report): string[] => {
  const urls = items(value, path, maxRpcUrls, report).filter(url => typeof url === 'string');
  if (Array.isArray(value) && urls.length !== value.length) report(path, 'must be a list of strings');
  urls.forEach((url, index) => {
    const protocol = URL.parse(url)?.protocol;
    if (protocol !== 'https:' && protocol !== 'http:')
      report(`${path}[${index}]`, 'must be an absolute http: or https: URL');
  });
  if (new Set(urls).size !== urls.length) report(path, 'must not repeat a URL');
  return urls;
};

const parseRule = (value: unknown, path: string, report: Report): Rule | undefined => {
  const given = fields(value, path, ['kind', 'depth'], report);
  if (given === undefined) return undefined;
  const { kind, depth = null } = given;
  if (kind !== 'finalized' && kind !== 'safe' && kind !== 'depth') {
    report(`${path}.kind`, 'must be finalized, safe or depth');
    return undefined;
  }
  if (depth === null && kind !== 'depth') return { kind, depth: null };
  if (typeof depth === 'number' && Number.isInteger(depth) && depth >= 1 && depth <= maxDepth) return { kind, depth };
  report(`${path}.depth`, `must be a whole number from 1 to ${maxDepth}`);
  return undefined;
};

const parseTier = (value: unknown, path: string, currencies: Currencies, report: Report): TierSettings | undefined => {
  const given = fields(value, path, ['currency', 'from', 'rule'], report);
  if (given === undefined) return undefined;
  const { currency, from } = given;
  const rule = parseRule(given.rule, `${path}.rule`, report);
  if (!currencies.some(({ symbol }) => symbol === currency)) {
    report(`${path}.currency`, `must be one of ${currencies.map(({ symbol }) => symbol).join(', ')}`);
    return undefined;
  }
  const valid = checkAmount(from, `${path}.from`, currencies, currency as string, report);
  return valid && rule ? { currency: currency as string, from: from as string, rule } : undefined;
};

/** The first match wins. A test network's tokens are also tokens of its mainnet, with the same decimals. */
type Currencies = readonly { readonly symbol: string; readonly decimals: number }[];
const listedOn = ({ nativeCurrency, tokens }: Backing): Currencies => [nativeCurrency, ...tokens];

const checkAmount = (value: unknown, path: string, currencies: Currencies, symbol: string, report: Report): boolean => {
  const decimals = currencies.find(each => each.symbol === symbol)?.decimals;
  if (decimals === undefined) return false;
  if (typeof value === 'string' && parseAmount(value, decimals).ok) return true;
  report(path, `must be a decimal amount as a string, above zero, with at most ${decimals} fractional digits`);
  return false;
};

const fields = (value: unknown, path: string, known: readonly string[], report: Report): Fields | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report(path, 'must be an object');
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) report(path, `has the unknown key "${key}"; known: ${known.join(', ')}`);
  }
  return Object.fromEntries(Object.entries(value).filter(([key]) => known.includes(key)));
};

const items = (value: unknown, path: string, most: number, report: Report): readonly unknown[] => {
  if (Array.isArray(value) && value.length <= most) return value;
  report(path, `must be a list of at most ${most}`);
  return [];
};
