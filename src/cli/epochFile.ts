import { open, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { type Epoch, formatEpoch, parseEpoch } from '../core/epoch.ts';
import { hasCode } from '../core/errorCode.ts';
import type { Log } from '../core/log.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { type Declaration, declareRestored, detectRestore } from '../engine/chain/restores.ts';
import {
  createLookForRestore,
  createTakeEpoch,
  type EpochMemory,
  type LookForRestore,
  type TakeEpoch,
} from '../engine/payments/derivationIndexes.ts';
import { readRestoreState } from '../storage/chain/restoreReviews.ts';
import { rememberedGateAt } from './auditHeadsFile.ts';
import { type Config, ConfigError } from './config.ts';
import { readRestoredMark, removeRestoredMark } from './restoredMark.ts';

const readEpochs = async (path: string): Promise<Epoch[]> => {
  const text = await readFile(path, 'utf8').catch(error => {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  });
  // A crash may have cut the last line. Its epoch was not used, because it is used only once the line is on disk. What is
  // left of it must go: the next line would be added to it.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole !== text) await truncate(path, Buffer.byteLength(whole));
  const lines = whole.split('\n').slice(0, -1);
  return lines.map(line => {
    const epoch = parseEpoch(line);
    if (epoch === null) throw new ConfigError([`${path} is damaged. Restore it from a backup.`]);
    return epoch;
  });
};

const append = async (path: string, line: string): Promise<void> => {
  const file = await open(path, 'a', 0o600);
  try {
    await file.writeFile(line);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** The epochs that were taken by processes on this data directory, a line each, kept outside of the database. */
const openEpochFile = async (config: Pick<Config, 'dataDir'>): Promise<EpochMemory> => {
  const path = join(config.dataDir, 'derivation-epochs');
  const remembered = await readEpochs(path);
  return {
    remembered,
    async remember(epoch) {
      await append(path, `${formatEpoch(epoch)}\n`);
      remembered.push(epoch);
    },
  };
};

/** What the data directory remembers of derivation indexes. */
export type Epochs = { readonly take: TakeEpoch; readonly look: LookForRestore };

/** Looks for a restore. Take an epoch only after this: a new one would hide that others are lost. */
export const openEpochs = async (
  config: Pick<Config, 'dataDir'>,
  admin: AdminContext,
  by: { readonly holder: string; readonly log: Log; readonly restored?: Declaration | undefined },
): Promise<Epochs> => {
  const memory = await openEpochFile(config);
  const { db } = admin;
  const detect = () => detectRestore(admin, memory.remembered, by.log);
  await detect();
  // Before the first request: an index of an extended public key that is handed out now may have been handed out before.
  const marked = await readRestoredMark(config);
  if (by.restored || marked) {
    by.log.info({}, 'skipping and watching addresses that may have been given out since the backup');
    const { watched, since } = await declareRestored(admin, {
      ...marked,
      ...by.restored,
      knownGateAt: await rememberedGateAt(config),
    });
    by.log.info({ watched, since }, 'the restore is declared');
    // Last: if the declaration is interrupted, the next start makes it again.
    if (marked) await removeRestoredMark(config);
  }
  const { inReview } = await readRestoreState(db);
  if (inReview.size > 0) {
    by.log.warn({ accounts: inReview.size }, 'production is closed until accounts are reviewed: run florin doctor');
  }
  return { take: createTakeEpoch(db, memory, by), look: createLookForRestore(admin, detect, by.log) };
};
