/** One small fault: what a tired engineer might write. `tests` are the files expected to notice, tried first. */
export type Fault = { name: string; file: string; find: string; replace: string; tests: string[] };

export const api = (...names: string[]): string[] => names.map(name => `test/api/${name}.test.ts`);
