import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hasCode } from '../../core/errorCode.ts';
import { port } from './socketDirectory.ts';

export type PostmasterFile = { readonly pid: number; readonly status: string };

const pathOf = (cluster: string) => join(cluster, 'postmaster.pid');

/** What the server writes about itself while it runs. After a crash it may describe a server that is gone. */
export const readPostmasterFile = async (cluster: string): Promise<PostmasterFile | null> => {
  try {
    const lines = (await readFile(pathOf(cluster), 'utf8')).split('\n');
    const pid = Number.parseInt(lines[0] ?? '', 10);
    return Number.isInteger(pid) && pid > 0 ? { pid, status: (lines[7] ?? '').trim() } : null;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
};

/**
 * Prepares for a new server once it is certain that the recorded one does not run.
 *
 * PostgreSQL refuses to start while any process of its user has the recorded id, and ids are reused. The file is not
 * removed, because it also names the shared memory by which a new server notices orphaned sessions of the old one.
 * Instead it gets the id of this process: PostgreSQL knows that its own parent cannot be another server.
 */
export const disarmPostmasterFile = async (cluster: string, socketDirectory: string): Promise<void> => {
  for (const name of [`.s.PGSQL.${port}`, `.s.PGSQL.${port}.lock`])
    await rm(join(socketDirectory, name), { force: true });
  try {
    let content = await readFile(pathOf(cluster), 'utf8');
    if (!content.includes('\n')) {
      // Empty: left by a crash, or a server is about to write its id and needs a moment.
      await pause(1000);
      content = await readFile(pathOf(cluster), 'utf8');
    }
    const rest = content.indexOf('\n');
    if (rest === -1) return await rm(pathOf(cluster));
    // Written in place and padded to the old length, so that it works on a full disk.
    const disarmed = `${String(process.pid).padStart(rest)}${content.slice(rest)}`;
    await writeFile(pathOf(cluster), disarmed, { flag: 'r+' });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
};
