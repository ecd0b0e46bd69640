import { chmod, lchown, mkdir, open, realpath, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export type PostgresFiles = {
  readonly directory: string;
  readonly cluster: string;
  readonly buildPrefix: string;
  readonly socketDir: string;
  readonly socketRecord: string;
  readonly passwords: string;
  readonly serverLog: string;
  readonly links: string;
  /** The name of a user that the system does not know. */
  readonly passwd: string;
  readonly group: string;
};

export const isRoot = () => process.geteuid?.() === 0;

/** Paths of the embedded server below the data directory. */
export const postgresFiles = (dataDir: string): PostgresFiles => {
  const directory = join(dataDir, 'postgres');
  return {
    directory,
    cluster: join(directory, 'cluster'),
    buildPrefix: join(directory, 'build-'),
    socketDir: join(directory, 'socket'),
    socketRecord: join(directory, 'socket-directory'),
    passwords: join(directory, 'passwords.json'),
    serverLog: join(directory, 'server.log'),
    links: join(directory, 'lib'),
    passwd: join(directory, 'passwd'),
    group: join(directory, 'group'),
  };
};

/** Creates the directories that Florin owns. Those of the server's account follow when the account is known. */
export const ensurePostgresDirectory = async (dataDir: string): Promise<PostgresFiles> => {
  await mkdir(dataDir, { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
  const files = postgresFiles(await realpath(dataDir));
  await mkdir(files.directory, { mode: 0o700, recursive: true });
  await keepOwner(files.directory);
  const { uid } = await stat(files.directory);
  if (!isRoot() && uid !== process.geteuid?.()) {
    throw new Error(
      `${files.directory} belongs to user ${uid}. Start Florin as that user, or choose another data directory.`,
    );
  }
  // As root, the server runs under another account, which must be able to enter the directory but not to list it.
  await chmod(files.directory, isRoot() ? 0o711 : 0o700);
  return files;
};

/** Root may start in the directory of an ordinary user: new files then belong to the directory's owner. */
export const keepOwner = async (path: string): Promise<void> => {
  if (!isRoot()) return;
  const { uid, gid } = await stat(dirname(path));
  await lchown(path, uid, gid);
};

/** Writes a file of mode 0600. After a crash it is complete or missing. */
export const writePrivateFile = async (path: string, content: string): Promise<void> => {
  const unfinished = `${path}.new`;
  const file = await open(unfinished, 'w', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await keepOwner(unfinished);
  await rename(unfinished, path);
  await syncDirectory(dirname(path));
};

export const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};
