import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Config, loadConfig } from '../../src/cli/config.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: the files are read as they are, and tested.
export type Yaml = any;

/** As Florin reads them at its start, in the folder `cwd` and with the files of secrets in another folder. */
export const load = (
  env: Record<string, string>,
  mounted: string,
  { folder, cwd }: { readonly folder: string; readonly cwd: string },
): Promise<Config> => {
  const moved = Object.entries(env).map(([name, value]) => [name, value.replace(mounted, folder)]);
  return loadConfig({ env: Object.fromEntries(moved), cwd });
};

const hosts: Record<string, string> = { PAY_HOST: 'pay.example.com', SANDBOX_HOST: 'sandbox.pay.example.com' };

/** The variables of a service, as Compose gives them to it. */
export const environmentOf = ({ environment }: Yaml): Record<string, string> => {
  const fill = (text: string) => text.replaceAll(/\$\{(\w+):\?[^}]*\}/g, (_, variable) => hosts[variable]!);
  return Object.fromEntries(Object.entries<Yaml>(environment).map(([name, value]) => [name, fill(String(value))]));
};
