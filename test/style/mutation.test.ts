import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (name: string): string => readFileSync(new URL(`../campaigns/mutation/${name}`, import.meta.url), 'utf8');

test('the mutation tool is pinned, and its lockfile names no download addresses', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
  for (const version of Object.values(devDependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  const lockfile = read('package-lock.json');
  expect(lockfile).not.toContain('"resolved"');
  const { packages } = JSON.parse(lockfile) as { packages: { '': { devDependencies: Record<string, string> } } };
  expect(packages[''].devDependencies).toEqual(devDependencies);
});
