import { lchown, lstat, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../core/errorCode.ts';
import type { Log } from '../../core/log.ts';
import type { PostgresBinaries } from './locatePostgres.ts';
import { isRoot, type PostgresFiles } from './postgresFiles.ts';
import { runCommand } from './runCommand.ts';

/** The account that the server runs under. PostgreSQL refuses to run as root. */
export type Account =
  | { readonly kind: 'self' }
  | { readonly kind: 'user'; readonly uid: number; readonly gid: number }
  | { readonly kind: 'named'; readonly passwd: string; readonly group: string }
  | { readonly kind: 'namespace' };

export type ServerAccount = { readonly account: Account; readonly majorVersion: string };

type Invocation = { command: string; args: string[]; identity: { uid?: number; gid?: number } };

const namespaceCommand = ['-U', '--map-user=65534', '--map-group=65534', '--'];

/** How to start a command under the account. The command keeps the process id that it is started with. */
export const invokeAs = (account: Account, command: string, args: readonly string[]): Invocation => {
  if (account.kind === 'namespace') {
    return { command: 'unshare', args: [...namespaceCommand, command, ...args], identity: {} };
  }
  if (account.kind === 'named') {
    const { passwd, group } = account;
    const names = ['LD_PRELOAD=libnss_wrapper.so', `NSS_WRAPPER_PASSWD=${passwd}`, `NSS_WRAPPER_GROUP=${group}`];
    return { command: 'env', args: [...names, command, ...args], identity: {} };
  }
  const identity = account.kind === 'user' ? { uid: account.uid, gid: account.gid } : {};
  return { command, args: [...args], identity };
};

/** The first account that has a name, can enter the data directory and can run the binaries. Each is tried for real. */
export const chooseAccount = async (
  files: PostgresFiles,
  binaries: PostgresBinaries,
  log: Log,
): Promise<ServerAccount> => {
  const refusals: string[] = [];
  for await (const account of candidates(files, binaries)) {
    const script = 'id -un >/dev/null && cd "$1" && exec "$2" --version';
    const trial = invokeAs(account, '/bin/sh', ['-c', script, 'sh', files.directory, binaries.postgres]);
    const options = { ...trial.identity, env: binaries.environment, timeoutMs: 30_000 };
    const { code, stdout, stderr } = await runCommand(trial.command, trial.args, options);
    const majorVersion = / (\d+)[.\d]*/.exec(stdout)?.[1];
    if (code === 0 && majorVersion !== undefined) {
      if (account.kind === 'namespace') warnOfNamespace(files, log);
      return { account, majorVersion };
    }
    refusals.push(`${describe(account)}: ${stderr.trim() || `exit code ${code}`}`);
  }
  throw new Error(
    'The embedded PostgreSQL cannot run here. Start Florin as an ordinary user with a data directory of its own, ' +
      `or set DATABASE_URL to a PostgreSQL server. Tried:\n${refusals.join('\n')}`,
  );
};

async function* candidates(files: PostgresFiles, binaries: PostgresBinaries): AsyncGenerator<Account> {
  if (isRoot()) {
    // The owner of the existing files comes first, so that they keep their owner from one start to the next.
    const owners = [
      await ownerOf(files.cluster),
      await ownerOf(files.directory),
      await findNobody(),
      await ownerOf(binaries.root),
    ];
    for (const owner of owners) if (owner !== null && owner.uid !== 0) yield { kind: 'user', ...owner };
  } else {
    yield { kind: 'self' };
    yield await nameOurselves(files);
  }
  yield { kind: 'namespace' };
}

/**
 * In a container, the user may be a number that no passwd file knows, and PostgreSQL does not run without a name. Where
 * libnss_wrapper is installed, as in our image, it gets one from files of its own.
 */
const nameOurselves = async ({ passwd, group }: PostgresFiles): Promise<Account> => {
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
  await writeFile(passwd, `florin:x:${uid}:${gid}:Florin:/:/bin/sh\n`, { mode: 0o600 });
  await writeFile(group, `florin:x:${gid}:\n`, { mode: 0o600 });
  return { kind: 'named', passwd, group };
};

const ownerOf = async (path: string): Promise<{ uid: number; gid: number } | null> => {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
};

const findNobody = async (): Promise<{ uid: number; gid: number }> => {
  const accounts = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const found = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(accounts);
  return { uid: Number(found?.[1] ?? 65534), gid: Number(found?.[2] ?? 65534) };
};

const describe = (account: Account): string => {
  if (account.kind === 'user') return `user ${account.uid}`;
  if (account.kind === 'named') return 'this user, named by libnss_wrapper';
  return account.kind === 'self' ? 'this user' : 'a user namespace';
};

const warnOfNamespace = (files: PostgresFiles, log: Log): void => {
  const message =
    'no unprivileged account can enter the data and program directories, so PostgreSQL runs in a user namespace ' +
    'and keeps the file access of this user';
  log.warn({ directory: files.directory }, message);
};

/**
 * Gives a directory of the server to its account. The top comes last, so its owner shows whether everything below is
 * done.
 */
export const handOver = async (directory: string, account: Account): Promise<void> => {
  if (!isRoot()) return;
  const { uid, gid } = account.kind === 'user' ? account : { uid: 0, gid: 0 };
  const current = await lstat(directory);
  if (current.uid === uid && current.gid === gid) return;
  for (const entry of await readdir(directory, { recursive: true })) await lchown(join(directory, entry), uid, gid);
  await lchown(directory, uid, gid);
};
