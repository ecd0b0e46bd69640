import type { Log } from '../core/log.ts';
import type { Progress } from '../core/progress.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import type { Declaration } from '../engine/chain/restores.ts';
import { monotonicMs, openAdmin, type StartedStorage } from './compose.ts';
import type { Config } from './config.ts';
import { openKeys, startKeyWatch } from './masterKeys.ts';
import { forgetPeople } from './personRevisionsFile.ts';
import { sealOnce } from './sealsFile.ts';
import type { Stack } from './stack.ts';

/** Opens the vault, follows rotations of its key, and seals the rows of an older database. */
export const startKeys = async (
  config: Config,
  parts: {
    readonly storage: StartedStorage;
    readonly log: Log;
    readonly stack: Stack;
    readonly progress: Progress;
    readonly restored: Declaration | undefined;
  },
): Promise<{ readonly admin: AdminContext; readonly holder: string }> => {
  const { storage, log, stack, progress, restored } = parts;
  if (restored) await forgetPeople(config);
  const { holder, gate } = storage;
  const ring = await openKeys(config, storage.db, log);
  // The last loop to stop: the others make values until they have stopped.
  const keyWatch = startKeyWatch(config, { db: storage.db, ring, holder, gate, log, monotonicMs });
  stack.push('key watch', () => keyWatch.stop());
  const admin = await openAdmin(config, storage, log, ring);
  await sealOnce(config, admin, { log, progress });
  return { admin, holder };
};
