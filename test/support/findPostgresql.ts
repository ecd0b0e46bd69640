import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isProgram } from './isProgram.ts';

export const howToGetPostgresql = 'sudo apt-get install postgresql';

const programs = ['initdb', 'pg_basebackup', 'pg_ctl', 'pg_isready', 'postgres', 'psql'];
const installations = '/usr/lib/postgresql';

/** Where Debian puts them, which is not on the PATH; the newest first. */
const installed = (): string[] =>
  existsSync(installations)
    ? readdirSync(installations)
        .sort((one, other) => Number(other) - Number(one))
        .map(version => join(installations, version, 'bin'))
    : [];

/**
 * The folder of all programs of a PostgreSQL server; null where there is none. The embedded server has three of them, and
 * cannot copy another server.
 */
export const findPostgresql = (env: NodeJS.ProcessEnv = process.env): string | null =>
  [...(env.PATH ?? '').split(delimiter), ...installed()].find(folder =>
    programs.every(program => isProgram(join(folder, program))),
  ) ?? null;

// As a command it prints the folder, or ends with 1.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = findPostgresql();
  console.log(folder ?? `PostgreSQL was not found; get it with: ${howToGetPostgresql}`);
  process.exitCode = folder === null ? 1 : 0;
}
