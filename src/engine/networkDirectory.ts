import { type Environment, environments } from '../core/environment.ts';
import { FlorinError, invalid } from '../core/errors.ts';
import type { Network } from '../core/registry/networks.ts';
import type { Database } from '../storage/database.ts';
import { type NetworkStatusRow, readNetworkStatus } from '../storage/networkStatus.ts';

/** A measurement older than this says nothing: nobody is polling. */
const staleAfterSeconds = 15;
const refreshMs = 500;

export type MeasuredNetwork = {
  network: Network;
  status: NetworkStatusRow['status'];
  reason: string | null;
  latestBlock: string | null;
  lagSeconds: number | null;
  checkedAt: Date | null;
  /** Currencies that cannot be taken now, by symbol, with the reason. */
  disabled: Readonly<Record<string, string>>;
};

export type NetworkDirectory = {
  list(environment: Environment): Promise<readonly MeasuredNetwork[]>;
  find(environment: Environment, slug: string): Promise<MeasuredNetwork | null>;
  /** The network as configured; for rendering payments, whatever its health. */
  configured(environment: Environment, slug: string): Network | undefined;
  all(): readonly Network[];
  /** Where people look at transactions of this chain; null where there is no such place. */
  explorerOf(caip2: string): string | null;
  /** Of the native coin where the contract is null; null for a token that no network lists. */
  decimalsOf(caip2: string, contract: string | null): number | null;
};

/** The local chain has no address but for the process that runs it; what that one measures holds for all. */
const isUnconfigured = ({ rpcUrls, backing }: Network): boolean => rpcUrls.length === 0 && backing !== 'devchain';

const judge = (network: Network, row: NetworkStatusRow | undefined): MeasuredNetwork => {
  const unknown = { network, latestBlock: null, lagSeconds: null, checkedAt: null, disabled: {} };
  if (isUnconfigured(network)) return { ...unknown, status: 'down', reason: 'no RPC URL is configured for it' };
  if (!row || row.caip2 !== network.caip2) return { ...unknown, status: 'down', reason: 'it has not been polled yet' };
  const { latestBlock, lagSeconds, checkedAt } = row;
  const measured = { network, latestBlock, lagSeconds, checkedAt, disabled: row.disabledCurrencies };
  if (row.ageSeconds > staleAfterSeconds) return { ...measured, status: 'down', reason: 'nothing is polling it' };
  return { ...measured, status: row.status, reason: row.reason };
};

/** Status is read from the database, where the poller writes it, at most twice a second. */
export const createNetworkDirectory = (
  db: Database,
  networks: readonly Network[],
  nowMs: () => number,
): NetworkDirectory => {
  const byEnvironment = new Map(environments.map(e => [e, networks.filter(n => n.environment === e)]));
  const bySlug = new Map(networks.map(n => [`${n.environment}/${n.slug}`, n]));
  const decimals = new Map(
    networks.flatMap(({ caip2, currencies }) => currencies.map(c => [`${caip2} ${c.contractAddress}`, c.decimals])),
  );
  let rows = new Map<string, NetworkStatusRow>();
  /** By environment, for as long as these rows hold. */
  const judged = new Map<Environment, readonly MeasuredNetwork[]>();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  const refresh = async (): Promise<void> => {
    if (nowMs() - readAtMs < refreshMs) return;
    reading ??= (async () => {
      const startedMs = nowMs();
      const fresh = await readNetworkStatus(db);
      rows = new Map(fresh.map(row => [`${row.environment}/${row.network}`, row]));
      judged.clear();
      readAtMs = startedMs;
    })().finally(() => {
      reading = null;
    });
    await reading;
  };

  return {
    async list(environment) {
      await refresh();
      const known = judged.get(environment);
      if (known) return known;
      const made = byEnvironment.get(environment)!.map(n => judge(n, rows.get(`${environment}/${n.slug}`)));
      judged.set(environment, made);
      return made;
    },
    async find(environment, slug) {
      const network = bySlug.get(`${environment}/${slug}`);
      if (!network) return null;
      await refresh();
      return judge(network, rows.get(`${environment}/${slug}`));
    },
    configured: (environment, slug) => bySlug.get(`${environment}/${slug}`),
    all: () => networks,
    explorerOf: caip2 => networks.find(network => network.caip2 === caip2)?.explorerUrl ?? null,
    decimalsOf: (caip2, contract) => decimals.get(`${caip2} ${contract}`) ?? null,
  };
};

/** The network a payment of this currency may be created on now, or the error that says why not. */
export const watchedNetwork = async (
  directory: NetworkDirectory,
  environment: Environment,
  slug: string,
  symbol: string | undefined,
): Promise<Network> => {
  const found = await directory.find(environment, slug);
  if (!found) {
    const known = directory.all().filter(n => n.environment === environment);
    throw invalid('network', `Unknown network. Known networks: ${known.map(n => n.slug).join(', ')}.`);
  }
  if (found.status === 'down' || found.status === 'maintenance') {
    const remedy = isUnconfigured(found.network)
      ? `Add RPC URLs for it under networks.${environment}.${slug}.rpcUrls in florin.config.json.`
      : 'Try again shortly; GET /v1/networks shows its status.';
    // Some reasons are sentences.
    const reason = (found.reason ?? 'it does not answer').replace(/\.$/, '');
    throw new FlorinError('network_unavailable', `The network ${slug} is not being watched: ${reason}. ${remedy}`);
  }
  const disabled = symbol === undefined ? undefined : found.disabled[symbol];
  if (disabled !== undefined) {
    throw new FlorinError('network_unavailable', `${symbol} on ${slug} is disabled. ${disabled}`);
  }
  return found.network;
};
