import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { allFaults } from '../campaigns/mutants/allFaults.ts';
import { type Fault, misfitOf, testPath } from '../campaigns/mutants/fault.ts';

const root = new URL('../../', import.meta.url);

/** Running the faults takes long; that they still fit is known at once. */
test('each seeded fault fits one place of the source, and changes it', () => {
  expect(allFaults.flatMap(fault => misfitOf(fault) ?? [])).toEqual([]);
});

test('each has a name of its own and tests that exist', () => {
  expect(new Set(allFaults.map(({ harm }) => harm)).size).toBe(allFaults.length);
  const named = new Set(allFaults.flatMap(({ tests }) => tests.map(testPath)));
  expect([...named].filter(path => !existsSync(new URL(path, root)))).toEqual([]);
});

test('a fault that does not fit is told with its file and what to do', () => {
  const fault: Fault = {
    harm: 'Money would be lost.',
    file: 'src/core/money.ts',
    find: 'units > maximumUnits',
    replace: 'units >= maximumUnits',
    tests: ['core/money'],
  };
  expect(misfitOf(fault)).toBeNull();
  expect(misfitOf({ ...fault, find: 'units > 1e30' })).toMatch(/fit src\/core\/money\.ts.+"units > 1e30".+copy/);
  expect(misfitOf({ ...fault, find: 'units' })).toMatch(/fit src\/core\/money\.ts.+"units" occurs \d+ times/);
  expect(misfitOf({ ...fault, replace: fault.find })).toMatch(/changes nothing/);
  expect(misfitOf({ ...fault, file: 'src/core/coins.ts' })).toMatch(/src\/core\/coins\.ts, which does not exist/);
  expect(misfitOf({ ...fault, tests: ['core/coins'] })).toMatch(/test\/core\/coins\.test\.ts, which does not exist/);
  expect(misfitOf({ ...fault, tests: [] })).toMatch(/names no tests/);
});

test('the command checks the faults alone, and refuses a choice of none', async () => {
  const command = new URL('../campaigns/mutants.ts', import.meta.url).pathname;
  const check = (...words: string[]) => promisify(execFile)(process.execPath, [command, '--check', ...words]);
  expect((await check()).stdout).toBe(`${allFaults.length} faults fit the source.\n`);
  await expect(check('--only', 'no such fault')).rejects.toMatchObject({ code: 2 });
});
