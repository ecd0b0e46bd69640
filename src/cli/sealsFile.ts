import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../core/log.ts';
import type { Progress } from '../core/progress.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { SealsRemoved, sealOlderRows } from '../engine/seals/sealRows.ts';
import { writeFileAtomically } from '../local/writeFileAtomically.ts';
import { type Config, ConfigError } from './config.ts';

/**
 * Seals the rows of an older database at the first start that finds them. The data directory remembers that this was
 * done: somebody who can write to the database could otherwise have forged rows sealed.
 */
export const sealOnce = async (
  config: Config,
  admin: AdminContext,
  tellers: { readonly log: Log; readonly progress: Progress },
): Promise<void> => {
  const path = join(config.dataDir, 'rows-sealed');
  const wasSealed = await access(path).then(
    () => true,
    () => false,
  );
  try {
    await sealOlderRows({ ...admin, ...tellers }, wasSealed);
  } catch (error) {
    if (!(error instanceof SealsRemoved)) throw error;
    throw new ConfigError([
      'The rows of this database were sealed before, and the mark of that is gone: somebody changed the database, or it was restored from before the upgrade. Run florin doctor. If you restored it yourself and trust it, delete rows-sealed in the data directory and start again.',
    ]);
  }
  if (!wasSealed) await writeFileAtomically(path, '', 0o600);
};
