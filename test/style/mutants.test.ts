import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { allFaults } from '../campaigns/mutants/allFaults.ts';
import type { Fault } from '../campaigns/mutants/fault.ts';

const root = new URL('../../', import.meta.url);
const namesOf = (faults: readonly Fault[]): string[] => faults.map(({ file, name }) => `${file}: ${name}`);

/** The campaign takes hours; this shows at once whether its faults still apply. */
test('each seeded fault fits one place of the source, and changes it', () => {
  const fits = ({ file, find, replace }: Fault): boolean =>
    find !== replace &&
    existsSync(new URL(file, root)) &&
    readFileSync(new URL(file, root), 'utf8').split(find).length === 2;
  expect(namesOf(allFaults.filter(fault => !fits(fault)))).toEqual([]);
});

test('each has a name of its own and tests that exist', () => {
  expect(new Set(allFaults.map(({ name }) => name)).size).toBe(allFaults.length);
  const isThere = (path: string): boolean => existsSync(new URL(path, root));
  expect(namesOf(allFaults.filter(({ tests }) => tests.length === 0 || !tests.every(isThere)))).toEqual([]);
});
