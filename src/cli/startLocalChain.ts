import { callRpc } from '../chains/evm/rpc.ts';
import type { Log } from '../core/log.ts';
import type { Progress } from '../core/progress.ts';
import { slugs } from '../core/registry/backings.ts';
import { type DevChain, startDevChain } from '../local/devchain/startDevChain.ts';
import { ensureInstanceId } from '../local/instanceId.ts';
import type { Database } from '../storage/database.ts';
import { claimDeploymentValue } from '../storage/deployment.ts';
import { devTokens } from './compose.ts';
import type { Config } from './config.ts';

export type LocalChain = {
  /** Null if no local chain is needed, or if another data directory owns it. */
  readonly chain: DevChain | null;
  /** Messages for the operator. */
  readonly notices: readonly string[];
};

const notOurs = [
  'The sandbox of this database uses the local chain of another data directory. This Florin starts without one.',
  'You can create payments here. florin pay and simulate work only with the Florin that runs that chain.',
  'For a separate sandbox, set another DATABASE_URL. To move the chain here, stop both and copy devchain.journal.',
  'To use test networks, set rpcUrls for all sandbox networks. With FLORIN_ROLES=api, no local chain is needed.',
].join('\n  ');

const isNeeded = (config: Config): boolean =>
  config.roles.includes('watch') && slugs.some(slug => (config.networks.sandbox[slug]?.rpcUrls.length ?? 0) === 0);

/** Whether the database's sandbox belongs to this chain. The first chain claims it permanently. */
const claim = async (db: Database, { rpcUrl }: DevChain): Promise<boolean> => {
  const { hash } = (await callRpc(rpcUrl, 'eth_getBlockByNumber', ['0x0', false])) as { hash: string };
  return (await claimDeploymentValue(db, 'local_chain_genesis', hash)) === hash;
};

/**
 * Each data directory has its own local chain, and all have the same chain id. Two of them in one database would look
 * like one chain with constant reorganizations. The other networks do not depend on it, so the start continues.
 */
export const startLocalChain = async (
  config: Config,
  parts: {
    readonly log: Log;
    readonly db: Database;
    readonly progress: Progress;
    readonly emptyBlockIntervalMs: number | undefined;
  },
): Promise<LocalChain> => {
  const { dataDir } = config;
  const { log, db, progress, emptyBlockIntervalMs } = parts;
  if (!isNeeded(config)) return { chain: null, notices: [] };
  const identity = await ensureInstanceId(dataDir);
  const tokens = devTokens(config.networks.production);
  const chain = await startDevChain({ dataDir, log, tokens, identity, emptyBlockIntervalMs, progress });
  try {
    if (await claim(db, chain)) return { chain, notices: [] };
  } catch (error) {
    await chain.stop();
    throw error;
  }
  await chain.stop();
  log.warn({ dataDir }, 'the sandbox is on the local chain of another data directory');
  return { chain: null, notices: [notOurs] };
};
