import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSegment } from '../core/logSegment.ts';
import type { LogContinuation } from '../local/backup/backupItems.ts';
import { archivePrefix, readArchiveFolder } from '../local/backup/logArchiveFolder.ts';

/** What no kept backup needs of one folder. */
const removeBefore = async (folder: string, kept: readonly LogContinuation[]): Promise<void> => {
  const { segments, journal } = await readArchiveFolder(folder);
  const needed = kept.map(({ nextSegment }) => parseSegment(nextSegment)!);
  const journalFrom = Math.min(...kept.map(({ journalBytes }) => journalBytes));
  const isOld = segments.filter(({ segment }) => needed.every(({ number }) => segment.number < number));
  // The last file stays: it says where the next one begins.
  const isRead = journal.slice(0, -1).filter(({ to }) => to <= journalFrom);
  for (const { file } of [...isOld, ...isRead]) await rm(join(folder, file), { force: true });
};

/** Removes the archived log from before the oldest backup that the schedule keeps, and archives that no backup needs. */
export const removeOlderLog = async (
  directory: string,
  options: {
    readonly backupsId: string;
    /** The folder that is being written to; null if there is none. */
    readonly current: string | null;
    readonly kept: readonly (LogContinuation | null)[];
  },
): Promise<void> => {
  const { backupsId, current, kept } = options;
  for (const name of await readdir(directory)) {
    if (!name.startsWith(archivePrefix(backupsId))) continue;
    const ofFolder = kept.filter(each => each?.folder === name) as LogContinuation[];
    if (ofFolder.length > 0) await removeBefore(join(directory, name), ofFolder);
    // A newer one has just been begun. Names begin with the time.
    else if (current === null || name < current) await rm(join(directory, name), { recursive: true, force: true });
  }
};
