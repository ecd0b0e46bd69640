import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Environment, environments, isEnvironment } from '../core/environment.ts';
import { parseAmount } from '../core/money.ts';
import { isSlug, mainnets, type Rule, type Slug, slugs } from '../core/registry/backings.ts';
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

/** Finds and validates florin.config.* in a directory. No file is a valid answer; two are not. */
export async function loadConfigFile(directory: string): Promise<Loaded> {
  const empty = { production: {}, sandbox: {} };
  // Directory entries, so that florin.config.yaml is refused instead of silently ignored.
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
}

/** Undefined where the file fails. What it failed with is not repeated: it may quote an RPC URL with its key. */
async function readContent(path: string): Promise<{ value: unknown } | undefined> {
  try {
    if (path.endsWith('.json')) return { value: JSON.parse(await readFile(path, 'utf8')) };
    const module: { default?: unknown } = await import(pathToFileURL(path).href);
    return { value: module.default };
  } catch {
    return undefined;
  }
}

function parseContent(content: unknown, report: Report): ConfiguredNetworks {
  const networks: Record<Environment, Partial<Record<Slug, NetworkSettings>>> = { production: {}, sandbox: {} };
  const root = fields(content, 'the file', ['networks'], report);
  const perEnvironment = fields(root?.networks ?? {}, 'networks', environments, report);
  for (const [environment, bySlug] of Object.entries(perEnvironment ?? {})) {
    if (!isEnvironment(environment)) continue;
    const path = `networks.${environment}`;
    for (const [slug, value] of Object.entries(fields(bySlug, path, slugs, report) ?? {})) {
      if (isSlug(slug)) networks[environment][slug] = parseNetwork(value, `${path}.${slug}`, slug, report);
    }
  }
  return networks;
}

function parseNetwork(value: unknown, path: string, slug: Slug, report: Report): NetworkSettings {
  const given = fields(value, path, ['rpcUrls', 'minAmounts', 'rule', 'tiers'], report) ?? {};
  const rule = given.rule === undefined ? undefined : parseRule(given.rule, `${path}.rule`, report);
  const minAmounts = fields(given.minAmounts ?? {}, `${path}.minAmounts`, symbolsOf(slug), report) ?? {};
  for (const [symbol, amount] of Object.entries(minAmounts)) {
    checkAmount(amount, `${path}.minAmounts.${symbol}`, slug, symbol, report);
  }
  const tiers = items(given.tiers ?? [], `${path}.tiers`, maxTiers, report);
  return {
    rpcUrls: parseRpcUrls(given.rpcUrls ?? [], `${path}.rpcUrls`, report),
    minAmounts: minAmounts as Record<string, string>,
    tiers: tiers.flatMap((tier, index) => parseTier(tier, `${path}.tiers[${index}]`, slug, report) ?? []),
    ...(rule === undefined ? {} : { rule }),
  };
}

function parseRpcUrls(value: unknown, path: string, report: Report): string[] {
  const urls = items(value, path, maxRpcUrls, report).filter(url => typeof url === 'string');
  if (Array.isArray(value) && urls.length !== value.length) report(path, 'must be a list of strings');
  urls.forEach((url, index) => {
    const protocol = URL.parse(url)?.protocol;
    if (protocol !== 'https:' && protocol !== 'http:')
      report(`${path}[${index}]`, 'must be an absolute http: or https: URL');
  });
  if (new Set(urls).size !== urls.length) report(path, 'must not repeat a URL');
  return urls;
}

function parseRule(value: unknown, path: string, report: Report): Rule | undefined {
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
}

function parseTier(value: unknown, path: string, slug: Slug, report: Report): TierSettings | undefined {
  const given = fields(value, path, ['currency', 'from', 'rule'], report);
  if (given === undefined) return undefined;
  const { currency, from } = given;
  const rule = parseRule(given.rule, `${path}.rule`, report);
  if (typeof currency !== 'string' || !symbolsOf(slug).includes(currency)) {
    report(`${path}.currency`, `must be one of ${symbolsOf(slug).join(', ')}`);
    return undefined;
  }
  const valid = checkAmount(from, `${path}.from`, slug, currency, report);
  return valid && rule ? { currency, from: from as string, rule } : undefined;
}

// A test network's tokens are among its mainnet's and have the same decimals.
const currenciesOf = (slug: Slug) => [mainnets[slug].nativeCurrency, ...mainnets[slug].tokens];
const symbolsOf = (slug: Slug): string[] => currenciesOf(slug).map(each => each.symbol);

function checkAmount(value: unknown, path: string, slug: Slug, symbol: string, report: Report): boolean {
  const decimals = currenciesOf(slug).find(each => each.symbol === symbol)?.decimals;
  if (decimals === undefined) return false;
  if (typeof value === 'string' && parseAmount(value, decimals).ok) return true;
  report(path, `must be a decimal amount as a string, above zero, with at most ${decimals} fractional digits`);
  return false;
}

function fields(value: unknown, path: string, known: readonly string[], report: Report): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report(path, 'must be an object');
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) report(path, `has the unknown key "${key}"; known: ${known.join(', ')}`);
  }
  return Object.fromEntries(Object.entries(value).filter(([key]) => known.includes(key)));
}

function items(value: unknown, path: string, most: number, report: Report): readonly unknown[] {
  if (Array.isArray(value) && value.length <= most) return value;
  report(path, `must be a list of at most ${most}`);
  return [];
}
