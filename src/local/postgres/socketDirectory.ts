import { lstat, mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCode } from '../../core/errorCode.ts';
import { type PostgresFiles, writePrivateFile } from './postgresFiles.ts';

export const port = 5432;

const pathLimitBytes = process.platform === 'darwin' ? 103 : 107;

const fits = (directory: string) => Buffer.byteLength(join(directory, `.s.PGSQL.${port}`)) <= pathLimitBytes;

/** The directory of the server's socket; null when none is recorded yet. */
export const findSocketDirectory = async (files: PostgresFiles): Promise<string | null> => {
  if (fits(files.socketDir)) return files.socketDir;
  try {
    return (await readFile(files.socketRecord, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
};

/** Below the data directory if its path is short enough for a socket, otherwise a recorded temporary directory. */
export const ensureSocketDirectory = async (files: PostgresFiles): Promise<string> => {
  if (fits(files.socketDir)) {
    await mkdir(files.socketDir, { recursive: true, mode: 0o700 });
    return files.socketDir;
  }
  const recorded = await findSocketDirectory(files);
  if (recorded !== null && (await makeOrRecognise(recorded, files))) return recorded;
  const parent = fits(join(tmpdir(), 'florin-XXXXXX')) ? tmpdir() : '/tmp';
  const directory = await mkdtemp(join(parent, 'florin-'));
  await writePrivateFile(files.socketRecord, `${directory}\n`);
  return directory;
};

/** After the temporary directory was cleaned, the recorded name may belong to somebody else's directory. */
const makeOrRecognise = async (directory: string, files: PostgresFiles): Promise<boolean> => {
  try {
    await mkdir(directory, { mode: 0o700 });
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  const found = await lstat(directory);
  const cluster = await lstat(files.cluster).catch(() => null);
  const owners = [process.geteuid?.(), cluster?.uid];
  return found.isDirectory() && (found.mode & 0o777) === 0o700 && owners.includes(found.uid);
};
