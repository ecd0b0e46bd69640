import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isProgram } from './isProgram.ts';

export const howToGetPgbouncer = 'sudo apt-get install pgbouncer';

/** PgBouncer: the program PGBOUNCER_PATH, or the one that is installed; null where there is none. */
export const findPgbouncer = (env: NodeJS.ProcessEnv = process.env, exists = isProgram): string | null => {
  if (env.PGBOUNCER_PATH) return exists(env.PGBOUNCER_PATH) ? env.PGBOUNCER_PATH : null;
  // Debian installs it where only root's PATH leads.
  const folders = [...(env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders.map(folder => join(folder, 'pgbouncer')).find(exists) ?? null;
};

// As a command it prints the path, or ends with 1.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = findPgbouncer();
  console.log(path ?? `PgBouncer was not found; get it with: ${howToGetPgbouncer}`);
  process.exitCode = path === null ? 1 : 0;
}
