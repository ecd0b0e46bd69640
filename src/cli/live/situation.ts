import { FlorinError } from '../../core/errors.ts';
import { silentLog } from '../../core/log.ts';
import type { Network } from '../../core/registry/networks.ts';
import { resolveAccount } from '../../engine/access/accounts.ts';
import { readGoLive } from '../../engine/access/readGoLive.ts';
import { createNetworkDirectory, type NetworkDirectory } from '../../engine/chain/networkDirectory.ts';
import type { Database } from '../../storage/database.ts';
import type { ResolveHost } from '../../webhooks/connect.ts';
import { monotonicMs, networksOf, openAdmin, openStorage } from '../compose.ts';
import type { Config } from '../config.ts';
import { checkMigrations, type Told } from '../doctorChecks.ts';
import { findLocalRpcUrl } from '../localRpcUrl.ts';

export const good = (detail: string): Told => ({ ok: true, detail });
export const bad = (detail: string): Told => ({ ok: false, detail });
/** `next` says what to do about any of the problems. */
export const judged = (problems: readonly string[], detail: string, next: string): Told =>
  problems.length === 0 ? good(detail) : bad(`${problems.join('; ')}. ${next}`);

/** What can be read while Florin runs. */
export type Records = {
  readonly db: Database;
  readonly directory: NetworkDirectory;
  readonly accountId: string;
  readonly goLive: Awaited<ReturnType<typeof readGoLive>>;
};

/** What the items of the checklist look at. */
export type Situation = {
  readonly config: Config;
  /** Production's networks that have nodes. */
  readonly networks: readonly Network[];
  readonly resolveHost: ResolveHost;
  readonly nowMs: number;
  /** A sentence if the database cannot be used. */
  readonly records: Records | string;
};

/** An item that needs the database. */
export const withRecords =
  (judge: (records: Records, situation: Situation) => Told | Promise<Told>) =>
  async (situation: Situation): Promise<Told> => {
    const { records } = situation;
    return typeof records === 'string' ? bad(`Not checked. ${records}`) : judge(records, situation);
  };

export type LiveOptions = { readonly account: string | null; readonly resolveHost: ResolveHost };

type Look<T> = (situation: Situation) => Promise<T>;

/** Opens what can be opened. `sentenceOf` gives the message of an expected error and throws every other. */
export const inSituation = async <T>(
  config: Config,
  { account, resolveHost }: LiveOptions,
  sentenceOf: (error: unknown) => string,
  look: Look<T>,
): Promise<T> => {
  const all = networksOf(config, await findLocalRpcUrl(config.dataDir));
  const networks = all.filter(({ environment, rpcUrls }) => environment === 'production' && rpcUrls.length > 0);
  const facts = { config, networks, resolveHost, nowMs: Date.now() };
  const storage = await openStorage(config, silentLog).catch(sentenceOf);
  if (typeof storage === 'string') return look({ ...facts, records: storage });
  try {
    const records = await readRecords(config, storage, all, account).catch(sentenceOf);
    return await look({ ...facts, records });
  } finally {
    await storage.stop();
  }
};

const readRecords = async (
  config: Config,
  storage: Awaited<ReturnType<typeof openStorage>>,
  networks: readonly Network[],
  account: string | null,
): Promise<Records> => {
  const isAnswering = await storage.db.script('select 1').then(
    () => true,
    () => false,
  );
  if (!isAnswering) throw new FlorinError('service_unavailable', 'The database does not answer.');
  const migrations = await checkMigrations(storage.db);
  if (!migrations.ok) throw new FlorinError('service_unavailable', `Migrations: ${migrations.detail}.`);
  const { db } = await openAdmin(config, storage);
  const directory = createNetworkDirectory(db, networks, monotonicMs);
  const { id: accountId } = await resolveAccount({ db }, account);
  const publicUrl = config.publicUrls.production ?? `https://localhost:${config.ports.production}`;
  const environments = { production: { publicUrl } };
  const goLive = await readGoLive({ listDb: db, networks: directory, environments }, accountId);
  return { db, directory, accountId, goLive };
};
