import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../', import.meta.url));

/** Preserved, so that a linked node_modules gives the same names and bytes as one of its own. */
export const sameEverywhere = {
  absWorkingDir: root,
  preserveSymlinks: true,
  logLevel: 'silent',
  write: false,
} as const;
export const small = { minify: true, target: 'es2023', legalComments: 'eof', charset: 'utf8' } as const;
