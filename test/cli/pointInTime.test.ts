// @module-tag thorough
import { expect, test, vi } from 'vitest';
import type { Drill } from '../campaigns/backupDrill/drillParts.ts';
import { firstBackup } from '../campaigns/backupDrill/logDrill.ts';
import { pointInTime } from '../campaigns/backupDrill/pointInTime.ts';
import { createUntil, makeSite } from '../campaigns/backupDrill/site.ts';
import { createRandom } from '../campaigns/fuzz/random.ts';
import { atEndOfFile } from '../support/endOfFile.ts';

vi.setConfig({ testTimeout: 600_000 });

/** A part of `npm run backup-drill`, in small. */
test('a dropped table comes back from the archived log, and no address is handed out twice', async () => {
  const said: string[] = [];
  const site = await makeSite({ archives: true });
  atEndOfFile(site.end);
  await firstBackup(site);
  const drill: Drill = {
    payments: 20,
    more: 20,
    rounds: 1,
    secondsEach: 1,
    leastShare: null,
    flips: 1,
    withLog: true,
    random: createRandom('a small point in time'),
    seed: null,
    tell: text => said.push(text),
    site,
    checks: [],
  };
  await createUntil(site.running, site.keys.sandbox, begun => begun >= 20, { mixed: true });
  await pointInTime(drill);
  expect(
    drill.checks.filter(({ problems }) => problems.length > 0),
    said.join('\n'),
  ).toEqual([]);
  expect(drill.checks.length).toBe(7);
});
