/** One small fault: what a tired engineer might write. `tests` are the files expected to notice, tried first. */
export type Fault = { name: string; file: string; find: string; replace: string; tests: string[] };

const within =
  (folder: string) =>
  (...names: string[]): string[] =>
    names.map(name => `test/${folder}/${name}.test.ts`);
export const api = within('api');
export const chains = within('chains');
export const checkout = within('checkout');
export const dashboard = within('dashboard');
export const deliveries = within('deliveries');
export const engine = within('engine');
export const http = within('http');
export const local = within('local');
export const storage = within('storage');
export const watch = within('watch');
export const vault = within('vault');
