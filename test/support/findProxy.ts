import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isProgram } from './isProgram.ts';

export const howToGetProxies = 'sudo apt-get install nginx caddy';

/** nginx or Caddy: in the folders PROXIES_PATH, or one that is installed; null where there is none. */
export const findProxy = (name: 'nginx' | 'caddy', env: NodeJS.ProcessEnv = process.env): string | null => {
  // The tests use a loopback address for each proxy, which only Linux has without setting it up.
  if (process.platform !== 'linux') return null;
  // /usr/sbin is not on the PATH of an ordinary user.
  const folders = (env.PROXIES_PATH || `${env.PATH}${delimiter}/usr/sbin`).split(delimiter);
  return folders.map(folder => join(folder, name)).find(isProgram) ?? null;
};

export const hasProxies = (): boolean => findProxy('nginx') !== null && findProxy('caddy') !== null;

// As a command it ends with 1 where one is missing.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(hasProxies() ? 'nginx and Caddy were found' : `get them with: ${howToGetProxies}`);
  process.exitCode = hasProxies() ? 0 : 1;
}
