// @module-tag thorough
import { expect, test, vi } from 'vitest';
import { runEraseDrill } from '../campaigns/eraseDrill/drill.ts';
import { createRandom } from '../campaigns/fuzz/random.ts';

vi.setConfig({ testTimeout: 400_000 });

/** `npm run erase-drill` in small. */
test('what was erased is in no table, log or file, and in no backup made later', async () => {
  const said: string[] = [];
  const checks = await runEraseDrill({
    payments: 12,
    random: createRandom('a small drill'),
    tell: text => said.push(text),
  });
  expect(
    checks.filter(({ problems }) => problems.length > 0),
    said.join('\n'),
  ).toEqual([]);
  expect(checks.length).toBeGreaterThanOrEqual(26);
});
