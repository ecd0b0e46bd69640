import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);
const git = (...args: string[]) => run('git', ['-C', root, ...args]);

export type Release = {
  readonly name: string;
  /** The program. */
  readonly program: string;
  /** Whether a process serves on for a while when it is asked to stop. */
  readonly drains: boolean;
};

const releaseIn = (name: string, folder: string): Release => ({
  name,
  program: join(folder, 'bin/florin.js'),
  drains: existsSync(join(folder, 'src/cli/drain.ts')),
});

export const thisRelease = releaseIn('this release', root);

/** Checks out a revision, with the packages of this one. */
export const checkOut = async (
  revision: string,
  folder: string,
): Promise<{ release: Release; remove(): Promise<void> }> => {
  await git('worktree', 'add', '--detach', folder, revision);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return {
    release: releaseIn('the release before', folder),
    async remove() {
      await git('worktree', 'remove', '--force', folder);
    },
  };
};
