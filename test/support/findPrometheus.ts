import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isProgram } from './isProgram.ts';

export const howToGetPrometheus = 'sudo apt-get install prometheus';

/** A program of Prometheus: in the folder PROMETHEUS_PATH, or one that is installed; null where there is none. */
export const findPrometheus = (
  name: 'prometheus' | 'promtool',
  env: NodeJS.ProcessEnv = process.env,
  exists = isProgram,
): string | null => {
  const folders = env.PROMETHEUS_PATH ? [env.PROMETHEUS_PATH] : (env.PATH ?? '').split(delimiter);
  return folders.map(folder => join(folder, name)).find(exists) ?? null;
};

// As a command it prints the path of promtool, or ends with 1.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = findPrometheus('promtool');
  console.log(path ?? `promtool was not found; get it with: ${howToGetPrometheus}`);
  process.exitCode = path === null ? 1 : 0;
}
