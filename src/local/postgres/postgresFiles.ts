import { chmod, lchown, mkdir, open, realpath, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export type PostgresFiles = {
  readonly room: string;
  readonly cluster: string;
  readonly buildPrefix: string;
  readonly socketDir: string;
  readonly socketRecord: string;
  readonly passwords: string;
  readonly serverLog: string;
  readonly links: string;
};

export const isRoot = () => process.geteuid?.() === 0;

/** Where everything of the embedded server lies below the data directory. */
export function postgresFiles(dataDir: string): PostgresFiles {
  const room = join(dataDir, 'postgres');
  return {
    room,
    cluster: join(room, 'cluster'),
    buildPrefix: join(room, 'build-'),
    socketDir: join(room, 'socket'),
    socketRecord: join(room, 'socket-directory'),
    passwords: join(room, 'passwords.json'),
    serverLog: join(room, 'server.log'),
    links: join(room, 'lib'),
  };
}

/** Makes the directories that Florin itself owns. Those of the server's account are made when the account is known. */
export async function ensureRoom(dataDir: string): Promise<PostgresFiles> {
  await mkdir(dataDir, { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
  const files = postgresFiles(await realpath(dataDir));
  await mkdir(files.room, { mode: 0o700, recursive: true });
  await keepOwner(files.room);
  const { uid } = await stat(files.room);
  if (!isRoot() && uid !== process.geteuid?.()) {
    throw new Error(
      `${files.room} belongs to user ${uid}. Start Florin as that user, or choose another data directory.`,
    );
  }
  // Below root's directory the server runs under another account, which must be able to pass but not to look around.
  await chmod(files.room, isRoot() ? 0o711 : 0o700);
  return files;
}

/** Root may start in a directory of an ordinary user: what it leaves there belongs to the directory's owner. */
export async function keepOwner(path: string): Promise<void> {
  if (!isRoot()) return;
  const { uid, gid } = await stat(dirname(path));
  await lchown(path, uid, gid);
}

/** Writes a file of mode 0600 that is either wholly there after a crash or not at all. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
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
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
