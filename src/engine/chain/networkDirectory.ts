import type { FactoryState } from '../../core/chain.ts';
import { type Environment, environments } from '../../core/environment.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import type { Network } from '../../core/registry/networks.ts';
import { type NetworkStatusRow, readNetworkStatus } from '../../storage/chain/networkStatus.ts';
import type { Database } from '../../storage/database.ts';

/** An older measurement is void: nothing polls the network. */
const staleAfterSeconds = 15;
const refreshMs = 500;

export type MeasuredNetwork = {
  network: Network;
  status: NetworkStatusRow['status'];
  reason: string | null;
  latestBlock: string | null;
  /** The newest block that is known, for payments: the latest one, and none below those that were read. */
  headNumber: string | null;
  lagSeconds: number | null;
  checkedAt: Date | null;
  /** Currencies that cannot be paid in now, by symbol, with the reason. */
  disabled: Readonly<Record<string, string>>;
};

export type NamedToken = { readonly symbol: string; readonly name: string; readonly decimals: number };

export type NetworkDirectory = {
  list(environment: Environment): Promise<readonly MeasuredNetwork[]>;
  find(environment: Environment, slug: string): Promise<MeasuredNetwork | null>;
  /** The network as configured, whatever its status. */
  configured(environment: Environment, slug: string): Network | undefined;
  all(): readonly Network[];
  /** Whether the chain has the forwarder factory, as the watcher last measured; null if it never did. */
  factoryOn(caip2: string): Promise<FactoryState | null>;
  /** The block explorer of the chain, or null. */
  explorerOf(caip2: string): string | null;
  /** A listed token or look-alike, or the native coin if the contract is null. Null for an unlisted token. */
  tokenOf(caip2: string, contract: string | null): NamedToken | null;
};

/** Only the process that runs the local chain has its URL. Its measurements count for all processes. */
const isUnconfigured = ({ rpcUrls, backing }: Network): boolean => rpcUrls.length === 0 && backing !== 'devchain';

/** An address is handed out only for tokens that the watcher reads, whatever this process lists. */
const disabledOf = ({ currencies }: Network, row: NetworkStatusRow): MeasuredNetwork['disabled'] => {
  const unread = currencies.filter(
    ({ contractAddress }) => contractAddress !== null && !row.readContracts.includes(contractAddress),
  );
  const reason = 'The watcher of this network does not read this token. Restart it with the same configuration.';
  return { ...Object.fromEntries(unread.map(({ symbol }) => [symbol, reason])), ...row.disabledCurrencies };
};

const judge = (network: Network, row: NetworkStatusRow | undefined, headNumber: string | null): MeasuredNetwork => {
  const unknown = { network, latestBlock: null, headNumber: null, lagSeconds: null, checkedAt: null, disabled: {} };
  if (isUnconfigured(network)) return { ...unknown, status: 'down', reason: 'no RPC URL is configured for it' };
  if (!row || row.caip2 !== network.caip2) return { ...unknown, status: 'down', reason: 'it has not been polled yet' };
  const { latestBlock, lagSeconds, checkedAt } = row;
  const measured = { network, latestBlock, headNumber, lagSeconds, checkedAt, disabled: disabledOf(network, row) };
  if (row.ageSeconds > staleAfterSeconds) return { ...measured, status: 'down', reason: 'nothing is polling it' };
  return { ...measured, status: row.status, reason: row.reason };
};

const higher = (a: bigint | undefined, b: string | null): bigint | undefined =>
  b === null || (a !== undefined && a > BigInt(b)) ? a : BigInt(b);

/**
 * The newest block that is known of each chain. The latest block is not sealed, so it does not count below blocks that were
 * read, and these not below those of before: an earlier row of the chain, with its seal, could be put back. A head that is
 * too high leaves out no more than what is older by its time, too.
 */
const createHeads = () => {
  const read = new Map<string, bigint>();
  return {
    note({ caip2, readTo }: NetworkStatusRow): void {
      const head = higher(read.get(caip2), readTo);
      if (head !== undefined) read.set(caip2, head);
    },
    of: ({ caip2, latestBlock }: NetworkStatusRow): string | null =>
      higher(read.get(caip2), latestBlock)?.toString() ?? null,
  };
};

/** Reads the status that the watcher writes to the database, at most twice a second. */
export const createNetworkDirectory = (
  db: Database,
  networks: readonly Network[],
  nowMs: () => number,
): NetworkDirectory => {
  const byEnvironment = new Map(environments.map(e => [e, networks.filter(n => n.environment === e)]));
  const bySlug = new Map(networks.map(n => [`${n.environment}/${n.slug}`, n]));
  const tokens = new Map<string, NamedToken>(
    networks.flatMap(({ caip2, currencies, lookAlikes }) => [
      ...lookAlikes.map(token => [`${caip2} ${token.address}`, token] as const),
      ...currencies.map(currency => [`${caip2} ${currency.contractAddress}`, currency] as const),
    ]),
  );
  let rows = new Map<string, NetworkStatusRow>();
  let factories = new Map<string, FactoryState | null>();
  /** By environment; cleared when new rows are read. */
  const judged = new Map<Environment, readonly MeasuredNetwork[]>();
  const heads = createHeads();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  const refresh = async (): Promise<void> => {
    if (nowMs() - readAtMs < refreshMs) return;
    reading ??= (async () => {
      const startedMs = nowMs();
      const fresh = await readNetworkStatus(db);
      rows = new Map(fresh.map(row => [`${row.environment}/${row.network}`, row]));
      factories = new Map(fresh.map(row => [row.caip2, row.factory]));
      for (const row of fresh) heads.note(row);
      judged.clear();
      readAtMs = startedMs;
    })().finally(() => {
      reading = null;
    });
    await reading;
  };

  const list = async (environment: Environment): Promise<readonly MeasuredNetwork[]> => {
    await refresh();
    const cached = judged.get(environment);
    if (cached) return cached;
    const measured = byEnvironment.get(environment)!.map(n => {
      const row = rows.get(`${environment}/${n.slug}`);
      return judge(n, row, row ? heads.of(row) : null);
    });
    judged.set(environment, measured);
    return measured;
  };

  return {
    list,
    async find(environment, slug) {
      if (!bySlug.has(`${environment}/${slug}`)) return null;
      return (await list(environment)).find(({ network }) => network.slug === slug)!;
    },
    configured: (environment, slug) => bySlug.get(`${environment}/${slug}`),
    all: () => networks,
    async factoryOn(caip2) {
      // The local chain begins with it.
      if (networks.some(network => network.caip2 === caip2 && network.backing === 'devchain')) return 'present';
      await refresh();
      return factories.get(caip2) ?? null;
    },
    explorerOf: caip2 => networks.find(network => network.caip2 === caip2)?.explorerUrl ?? null,
    tokenOf: (caip2, contract) => tokens.get(`${caip2} ${contract}`) ?? null,
  };
};

/** The network on which a payment in this currency may be created now, as measured. Throws the reason if there is none. */
export const watchedNetwork = async (
  directory: NetworkDirectory,
  environment: Environment,
  slug: string,
  symbol: string | undefined,
): Promise<MeasuredNetwork> => {
  const found = await directory.find(environment, slug);
  if (!found) {
    const choices = directory.all().filter(n => n.environment === environment);
    throw invalid('network', `The network is unknown. Use one of: ${choices.map(n => n.slug).join(', ')}.`);
  }
  if (found.status === 'down' || found.status === 'maintenance') {
    const remedy = isUnconfigured(found.network)
      ? `Add RPC URLs for it under networks.${environment}.${slug}.rpcUrls in florin.config.json.`
      : 'Try again shortly; GET /v1/networks shows its status.';
    // Some reasons end with a full stop.
    const reason = (found.reason ?? 'it does not answer').replace(/\.$/, '');
    throw new FlorinError('network_unavailable', `The network ${slug} is not being watched: ${reason}. ${remedy}`);
  }
  const disabled = symbol === undefined ? undefined : found.disabled[symbol];
  if (disabled !== undefined) {
    throw new FlorinError('network_unavailable', `${symbol} on ${slug} is disabled. ${disabled}`);
  }
  return found;
};
