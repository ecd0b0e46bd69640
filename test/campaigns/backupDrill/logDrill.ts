import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { canMount, fillDisk, mountSmallDisk } from '../../support/smallDisk.ts';
import { command } from './commands.ts';
import { check, type Drill, median, wrong } from './drillParts.ts';
import { archived, restoreUntil } from './pointInTime.ts';
import {
  archiving,
  createUntil,
  identityOf,
  type Made,
  makeSite,
  missingIn,
  type Running,
  type Site,
  startOn,
} from './site.ts';

const lookEveryMs = 200;
const longestWaitMs = 120_000;

const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  for (const endMs = performance.now() + longestWaitMs; !(await isSo()); await pause(lookEveryMs)) {
    if (performance.now() > endMs) throw new Error(`In vain: ${what}`);
  }
};

const recordOf = async (dataDir: string, name: string) =>
  JSON.parse(await readFile(join(dataDir, name), 'utf8').catch(() => 'null'));

/** The first backup of an archive is taken at once. */
export const firstBackup = ({ dataDir }: Site): Promise<void> =>
  until('a backup with its log', async () => {
    const [backups, log] = await Promise.all([
      recordOf(dataDir, 'backups.json'),
      recordOf(dataDir, 'log-archive.json'),
    ]);
    return log !== null && backups?.last?.log?.folder === log.folder;
  });

/** What archiving costs: the same load, in turns on one Florin that archives and one that does not. */
export const archiveCost = async ({ rounds, secondsEach, tell }: Drill): Promise<void> => {
  const [site, other] = [await makeSite({ archives: true }), await makeSite({ archives: false })];
  try {
    await firstBackup(site);
    const rate = async ({ running, keys }: Site): Promise<number> => {
      const startedMs = performance.now();
      const made = await createUntil(running, keys.sandbox, () => performance.now() - startedMs >= secondsEach * 1_000);
      return (made.length * 1_000) / (performance.now() - startedMs);
    };
    // Both have seen some load.
    for (const each of [site, other]) await rate(each);
    const [on, off]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      const isEven = round % 2 === 0;
      for (const each of isEven ? [site, other] : [other, site]) (each === site ? on : off).push(await rate(each));
    }
    const [archives, plain] = [median(on), median(off)];
    tell(
      `creates a second, medians: ${archives.toFixed(0)} with the log archived, ${plain.toFixed(0)} without; ratio ${(archives / plain).toFixed(2)}`,
    );
  } finally {
    await site.end();
    await other.end();
  }
};

/** Payments must go on although the archive cannot. */
const fullArchive = async (drill: Drill, site: Site, running: Running): Promise<Made[]> => {
  const filler = join(site.backups, 'filler');
  await fillDisk(filler);
  const made = await createUntil(running, site.keys.sandbox, begun => begun >= 100);
  await until('the failure is known', async () => (await recordOf(site.dataDir, 'log-archive.json')).failing !== null);
  const { stdout } = await command(['doctor', '--data-dir', site.dataDir]);
  check(
    drill,
    'with a full disk for the log, payments go on and the doctor says why',
    wrong(!/log archive: .*is full/.test(stdout), stdout),
  );
  await rm(filler);
  await archived(site.dataDir);
  return made;
};

/** A Florin of its own that is killed, whose archive fills its disk, and that is then lost. */
export const logDrill = async (drill: Drill): Promise<void> => {
  await archiveCost(drill);
  const site = await makeSite({ archives: false });
  await site.running.stop();
  const unmount = canMount ? await mountSmallDisk(site.backups, 128) : () => undefined;
  if (!canMount) drill.tell('skipped: a full disk for the log needs root and mounts');
  try {
    let running = await startOn(site.dataDir, archiving(site, 1));
    try {
      await firstBackup(site);
      const made = await createUntil(running, site.keys.sandbox, begun => begun >= 200);
      process.kill(running.florin.pid, 'SIGKILL');
      await running.florin.exited;
      running = await startOn(site.dataDir, archiving(site, 1));
      made.push(...(await createUntil(running, site.keys.sandbox, begun => begun >= 200)));
      if (canMount) made.push(...(await fullArchive(drill, site, running)));
      await archived(site.dataDir);
      await running.stop();
      const verified = await command(['backup', 'verify', site.backups, '--identity', identityOf(site)]);
      const folders = (await readdir(site.backups)).filter(name => name.startsWith('florin-log-'));
      check(drill, 'after kill -9, the archive goes on without a gap', [
        ...wrong(verified.code !== 0, verified.stdout + verified.stderr),
        ...wrong(folders.length !== 1, `there are ${folders.length} archives`),
      ]);
      const target = join(site.room, 'latest');
      const restored = await command(restoreUntil(site, 'latest', target));
      if (restored.code !== 0) return check(drill, 'the whole log is played', [restored.stderr]);
      running = await startOn(target);
      check(drill, 'the whole log has every payment', await missingIn(running, site.keys.sandbox, made));
    } finally {
      await running.stop();
    }
  } finally {
    unmount();
    await site.end();
  }
};
