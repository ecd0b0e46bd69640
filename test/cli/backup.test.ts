// @module-tag thorough
import { expect, test, vi } from 'vitest';
import { runDrill } from '../campaigns/backupDrill/drill.ts';
import { createRandom } from '../campaigns/fuzz/random.ts';

vi.setConfig({ testTimeout: 900_000 });

/** `npm run backup-drill` in small. */
test('a backup under load is restored elsewhere, and everything that goes wrong is noticed', async () => {
  const said: string[] = [];
  const checks = await runDrill({
    payments: 60,
    more: 60,
    rounds: 1,
    secondsEach: 0.5,
    leastShare: null,
    flips: 3,
    withLog: false,
    random: createRandom('a small drill'),
    seed: null,
    tell: text => said.push(text),
  });
  expect(
    checks.filter(({ problems }) => problems.length > 0),
    said.join('\n'),
  ).toEqual([]);
  expect(checks.length).toBeGreaterThanOrEqual(14);
});
