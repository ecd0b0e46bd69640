import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DevToken } from '../../chains/evm/deployments.ts';
import type { Log } from '../../core/log.ts';
import { type Progress, silentProgress } from '../../core/progress.ts';
import { writeFileAtomically } from '../writeFileAtomically.ts';
import { type DevNode, launchNode } from './launchNode.ts';
import type { NodeProgress } from './node.ts';

export type DevChain = {
  /** Stays the same when the node restarts. */
  readonly rpcUrl: string;
  /** The node's process, null while it is down. */
  pid(): number | null;
  stop(): Promise<void>;
};

export type DevChainOptions = {
  readonly dataDir: string;
  readonly log: Log;
  readonly tokens: readonly DevToken[];
  readonly emptyBlockIntervalMs?: number | undefined;
  /** Makes this chain differ from those of other data directories, from the first block on. */
  readonly identity?: string;
  /** Is told how far a replay is. */
  readonly progress?: Progress;
};

const firstDelayMs = 100;
const longestDelayMs = 10_000;
// A node that ran for this long did not die of the cause for which the delays grow.
const steadyAfterMs = 60_000;

/** Runs the dev chain in a process of its own and restarts it when it dies, until stopped. */
export const startDevChain = async (options: DevChainOptions): Promise<DevChain> => {
  const { dataDir, log, tokens, emptyBlockIntervalMs = 1_000, identity, progress = silentProgress } = options;
  const recordPath = join(dataDir, 'devchain.json');
  const journalPath = join(dataDir, 'devchain.journal');
  const stopping = new AbortController();
  let running: DevNode | null = null;

  const launch = async (port: number): Promise<DevNode> => {
    const startedAt = new Date();
    const onProgress = ({ done, all }: NodeProgress): void =>
      progress({ message: 'replaying blocks of the local chain', done, of: all });
    const start = { port, tokens, emptyBlockIntervalMs, journalPath, identity };
    const unrecorded = new AbortController();
    const node = await launchNode(start, onProgress, AbortSignal.any([stopping.signal, unrecorded.signal]));
    const record = { pid: node.pid, port: node.port, startedAt: startedAt.toISOString() };
    try {
      await writeFileAtomically(recordPath, `${JSON.stringify(record)}\n`, 0o600);
    } catch (error) {
      // A node without a record would keep the port from the next one.
      unrecorded.abort();
      await node.exited;
      throw error;
    }
    log.info(record, 'dev chain started');
    return node;
  };

  /** Uses the first port again, because others know it. If it is taken meanwhile, this waits until it is free. */
  const relaunch = async (port: number, firstAttemptDelayMs: number): Promise<DevNode | null> => {
    let delayMs = firstAttemptDelayMs;
    while (!stopping.signal.aborted) {
      await delay(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return null;
      try {
        return await launch(port);
      } catch (error) {
        if (!stopping.signal.aborted) log.error({ err: error, port }, 'dev chain could not be restarted');
        delayMs = Math.min(delayMs * 2, longestDelayMs);
      }
    }
    return null;
  };

  const supervise = async (firstNode: DevNode): Promise<void> => {
    let delayMs = firstDelayMs;
    for (let node: DevNode | null = firstNode; node !== null; ) {
      running = node;
      const upSince = performance.now();
      const { code, signal, stderr } = await node.exited;
      running = null;
      if (stopping.signal.aborted) return;
      log.warn({ pid: node.pid, code, signal, stderr }, 'dev chain died and will be restarted');
      delayMs = performance.now() - upSince > steadyAfterMs ? firstDelayMs : Math.min(delayMs * 2, longestDelayMs);
      node = await relaunch(firstNode.port, delayMs);
    }
  };

  const firstNode = await launch(0).catch(error => {
    stopping.abort();
    throw error;
  });
  const supervision = supervise(firstNode);

  return {
    rpcUrl: `http://127.0.0.1:${firstNode.port}`,
    pid: () => running?.pid ?? null,
    stop: async () => {
      stopping.abort();
      await supervision;
      await rm(recordPath, { force: true });
    },
  };
};
