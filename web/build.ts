import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { root, sameEverywhere, small } from './bundling.ts';
import { buildDashboard } from './dashboard/build.ts';

/** What an app is served as, by name below the folder that it is written to. */
type Files = ReadonlyMap<string, Uint8Array>;

/** One script and one style sheet. The server names them by what they hold. */
export const buildCheckout = async (): Promise<Files> => {
  const { outputFiles } = await build({
    ...sameEverywhere,
    ...small,
    entryPoints: ['web/checkout/checkout.ts', 'web/checkout/checkout.css'],
    outdir: 'web/checkout/built',
    bundle: true,
    format: 'esm',
  });
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
};

/** One file that sweeps from a recovery file, to be kept with it. It needs nothing but viem. */
export const buildRecovery = async (): Promise<Files> => {
  const { outputFiles } = await build({
    ...sameEverywhere,
    entryPoints: ['recovery/sweep.mjs'],
    outdir: 'recovery/built',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node22',
    external: ['viem', 'viem/*'],
    format: 'esm',
    charset: 'utf8',
  });
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
};

const write = async (folder: string, files: Files): Promise<void> => {
  await rm(folder, { recursive: true, force: true });
  for (const [name, bytes] of files) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await write(join(root, 'web/checkout/built'), await buildCheckout());
  await write(join(root, 'web/dashboard/built'), (await buildDashboard()).files);
  await write(join(root, 'recovery/built'), await buildRecovery());
}
