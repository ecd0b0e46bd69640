import { randomFillSync } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readFile } from 'node:fs/promises';
import { type DevToken, devChainDeployments } from '../chains/evm/deployments.ts';
import { environments } from '../core/environment.ts';
import { codeOf, hasCode } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import { createIdSource, type IdSource } from '../core/ids.ts';
import { type Log, silentLog } from '../core/log.ts';
import { type Progress, silentProgress } from '../core/progress.ts';
import { mainnets, type Slug, slugs, type Token } from '../core/registry/backings.ts';
import { type DevChain, type Network, resolveNetworks } from '../core/registry/networks.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { createReleaseGate, type ReleaseGate } from '../engine/releaseGate.ts';
import { keepingSeals } from '../engine/seals/sealKeeper.ts';
import { ensureInstanceId } from '../local/instanceId.ts';
import { ensureLocalCertificates } from '../local/localCa.ts';
import {
  type EmbeddedPostgres,
  findPostgres,
  type PostgresConnection,
  startPostgres,
} from '../local/postgres/startPostgres.ts';
import { readFinishedVersion } from '../storage/appliedMigrations.ts';
import type { ConnectionSettings } from '../storage/connect.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../storage/database.ts';
import { createDatabaseClock, type DatabaseClock } from '../storage/databaseClock.ts';
import { createFloors } from '../storage/floors.ts';
import { urlsOfHosts } from '../storage/hosts.ts';
import { migrate } from '../storage/migrate.ts';
import { loadRelease } from '../storage/release.ts';
import type { KeyRing } from '../vault/keyRing.ts';
import { type Config, ConfigError } from './config.ts';
import { openKeys } from './masterKeys.ts';
import { rememberPeople } from './personRevisionsFile.ts';
import { refuseUnfit, refuseUnreachable } from './refuseDatabase.ts';
import { refuseUnfinishedRestore } from './restoredMark.ts';

/** Takes 40 random bits at a time from a buffer. A system call per id would cost more than the id. */
const createRandom40 = (): (() => number) => {
  const pool = Buffer.alloc(5 * 1024);
  let used = pool.length;
  return () => {
    if (used + 5 > pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const value = pool.readUIntBE(used, 5);
    used += 5;
    return value;
  };
};

export const createIds = (): IdSource => createIdSource(createRandom40());

/** Wall time that never jumps: a change of the system clock must not affect the estimate of the database's clock. */
export const monotonicMs = (): number => performance.timeOrigin + performance.now();

export const probeConnection = async (connection: PostgresConnection): Promise<boolean> => {
  // A replica answers, too: whoever promotes it needs the server to run.
  const options = { log: silentLog, maxConnections: 1, applicationName: 'florin probe', needs: 'any' } as const;
  const database = openDatabase(connection, options);
  try {
    await database.script('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await database.close();
  }
};

export type OpenStorage = {
  readonly db: Database;
  readonly service: ConnectionSettings;
  readonly gate: ReleaseGate;
  stop(): Promise<void>;
};
/** `holder` names this process. */
export type StartedStorage = OpenStorage & { readonly holder: string };

/** The role to grant access to, if migrations run as another role. */
export const serviceRoleOf = (database: NonNullable<Config['database']>): string | null =>
  database.migrateUrl === database.url
    ? null
    : decodeURIComponent(new URL(urlsOfHosts(database.url)[0]!).username) || null;

/** Each process has up to this many connections. */
const connectionsOfProcess = 16;

/** The embedded server admits 100, which is enough for one process and commands beside it. */
const serverSettingsOf = ({ processes }: Config): Record<string, string> =>
  processes === null ? {} : { max_connections: String(100 + (processes + 2) * connectionsOfProcess) };

/** The server's database, embedded or external, after migrations and checks. */
export const startStorage = async (
  config: Config,
  log: Log,
  progress: Progress = silentProgress,
): Promise<StartedStorage> => {
  let embedded: EmbeddedPostgres | null = null;
  let owner: ConnectionSettings;
  let service: ConnectionSettings;
  let serviceRole: string | null;
  if (config.database) {
    owner = { connectionString: config.database.migrateUrl };
    service = { connectionString: config.database.url };
    serviceRole = serviceRoleOf(config.database);
  } else {
    embedded = await startPostgres({
      dataDir: config.dataDir,
      log,
      probe: probeConnection,
      settings: serverSettingsOf(config),
    });
    ({ owner, service } = embedded);
    serviceRole = embedded.service.user;
  }
  let db: Database | null = null;
  const stop = async (): Promise<void> => {
    await db?.close();
    await embedded?.stop();
  };
  try {
    if (config.database) await refuseUnreachable(config.database);
    const holder = await ensureInstanceId(config.dataDir);
    const given = { log, progress, holder, ...(serviceRole === null ? {} : { serviceRole }) };
    // The embedded database has no other processes, and nobody who would finish its upgrade.
    const { version, finished } = await migrate(owner, embedded ? { ...given, finish: 'if alone' } : given);
    const gate = createReleaseGate(version);
    gate.note(finished);
    db = openDatabase(service, { log });
    await refuseUnfit(db);
    return { db, service, gate, holder, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

type Roles = { readonly owner: ConnectionSettings; readonly service: ConnectionSettings };

const findEmbedded = async (config: Config): Promise<Roles | null> => {
  try {
    return await findPostgres({ dataDir: config.dataDir });
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    throw new FlorinError(
      'permission_denied',
      `${config.dataDir} belongs to another user. Run this command as the user that runs Florin.`,
    );
  }
};

/** The database for a command beside a running server. `asOwner`: with the role that owns the tables. */
export const openStorage = async (
  config: Config,
  log: Log,
  { asOwner = false, ...options }: { readonly queryTimeoutMs?: number; readonly asOwner?: boolean } = {},
): Promise<OpenStorage> => {
  const roles: Roles | null = config.database
    ? { owner: { connectionString: config.database.migrateUrl }, service: { connectionString: config.database.url } }
    : await findEmbedded(config);
  if (roles === null) {
    throw new FlorinError(
      'service_unavailable',
      `Florin is not running in ${config.dataDir}. Start it with npm start, or give its directory with --data-dir.`,
    );
  }
  const { owner, service } = roles;
  const as = asOwner ? owner : service;
  const db = openDatabase(as, { log, maxConnections: 2, applicationName: 'florin cli', ...options });
  const { migrations } = await loadRelease();
  return { db, service, gate: createReleaseGate(migrations.length), stop: () => db.close() };
};

const outdated = (): FlorinError =>
  new FlorinError(
    'conflict',
    'The upgrade of this database to a newer version of Florin is finished. Use that version.',
  );

/** `ring`: the keys, if they are open already. */
export const openAdmin = async (
  config: Config,
  storage: OpenStorage,
  log: Log = silentLog,
  ring?: KeyRing,
): Promise<AdminContext> => {
  const { gate } = storage;
  gate.note(await readFinishedVersion(storage.db));
  if (gate.isOutdated()) throw outdated();
  const clock: DatabaseClock = createDatabaseClock(storage.db, { monotonicMs, wallMs: Date.now });
  await clock.synchronize();
  const { vault } = ring ?? (await openKeys(config, storage.db, log));
  const floors = createFloors();
  await rememberPeople(config, floors);
  storage.db.keepSeals(keepingSeals(vault, log, floors));
  return { db: storage.db, clock, ids: createIds(), vault, floors, isFinished: gate.isFinished };
};

/** Test tokens of the local chain: the tokens of each mainnet, and those that the production configuration adds. */
export const devTokens = (production: Config['networks']['production'] = {}): DevToken[] =>
  slugs.flatMap(slug =>
    [...mainnets[slug].tokens, ...(production[slug]?.tokens ?? [])].map(({ symbol, name, decimals }) => ({
      slug,
      symbol,
      name: `Test ${name}`,
      decimals,
    })),
  );

/** Without the URL of a local chain, another process runs it. Its tokens have the same addresses. */
export const networksOf = (config: Config, devChainRpcUrl: string | null): Network[] => {
  const { production } = config.networks;
  const { tokenAddress } = devChainDeployments(devTokens(production));
  const moreTokens = (slug: Slug): readonly Token[] => production[slug]?.tokens ?? [];
  const rpcUrls = devChainRpcUrl === null ? [] : [devChainRpcUrl];
  const devChain: DevChain = { tokenAddress, moreTokens, rpcUrls };
  return environments.flatMap(environment =>
    resolveNetworks({
      environment,
      configured: config.networks[environment],
      devChain: environment === 'sandbox' ? devChain : null,
    }),
  );
};

export const tlsOf = async (config: Config): Promise<{ key: string; cert: string; caPath: string | null }> => {
  if (!config.tls) return ensureLocalCertificates({ dataDir: config.dataDir });
  const [cert, key] = await Promise.all([readFile(config.tls.certFile, 'utf8'), readFile(config.tls.keyFile, 'utf8')]);
  return { cert, key, caPath: null };
};

export const makeDataDir = async (config: Config): Promise<void> => {
  try {
    await mkdir(config.dataDir, { recursive: true, mode: 0o711 });
    await access(config.dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = `The data directory ${config.dataDir} cannot be used (${codeOf(error)})`;
    throw new ConfigError([`${why}: make it writable for this user, or choose another with --data-dir.`]);
  }
  await refuseUnfinishedRestore(config);
};

/**
 * The addresses where this deployment listens, as far as the settings tell. Webhooks must not call them. Includes the
 * API process beside this one, the proxy in front of it, and the local chain, whose node accepts commands from anyone.
 */
export const knownListeners = (
  {
    hosts,
    ports,
    publicUrls,
    dashboard,
    metrics,
  }: Pick<Config, 'hosts' | 'ports' | 'publicUrls' | 'dashboard' | 'metrics'>,
  chainUrl: string | null,
): { address: string; port: number }[] => {
  const named = [...Object.values(publicUrls), dashboard.url].flatMap(url =>
    url === null ? [] : [Number(new URL(url).port || 443)],
  );
  const all = [...new Set([...Object.values(ports), ...(dashboard.port === null ? [] : [dashboard.port]), ...named])];
  const served = hosts.flatMap(address => all.map(port => ({ address, port })));
  if (metrics !== null) served.push(...metrics.hosts.map(address => ({ address, port: metrics.port })));
  if (chainUrl === null) return served;
  const { hostname, port } = new URL(chainUrl);
  return [...served, { address: hostname, port: Number(port) }];
};

/** Connections for long lists, which must not wait for those of payments. */
export const openLists = (
  { service }: Pick<OpenStorage, 'service'>,
  { vault, floors }: Pick<AdminContext, 'vault' | 'floors'>,
  log: Log,
  options: Pick<DatabaseOptions, 'applicationName' | 'needs'> = { applicationName: 'florin lists' },
): Database => {
  const db = openDatabase(service, { log, maxConnections: 4, ...options });
  db.keepSeals(keepingSeals(vault, log, floors));
  return db;
};
