import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isProgram } from './isProgram.ts';

export const howToGetRedis = 'sudo apt-get install redis-server';

/** Valkey or Redis: the program REDIS_SERVER_PATH, or one that is installed; null where there is none. */
export const findRedis = (env: NodeJS.ProcessEnv = process.env, exists = isProgram): string | null => {
  if (env.REDIS_SERVER_PATH) return exists(env.REDIS_SERVER_PATH) ? env.REDIS_SERVER_PATH : null;
  const folders = (env.PATH ?? '').split(delimiter);
  const paths = ['valkey-server', 'redis-server'].flatMap(name => folders.map(folder => join(folder, name)));
  return paths.find(exists) ?? null;
};

// As a command it prints the path, or ends with 1.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = findRedis();
  console.log(path ?? `no Redis was found; get it with: ${howToGetRedis}`);
  process.exitCode = path === null ? 1 : 0;
}
