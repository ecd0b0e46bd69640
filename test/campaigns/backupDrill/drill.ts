import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer, command } from './commands.ts';
import {
  type Check,
  check,
  type Drill,
  type DrillOptions,
  findingsAgainst,
  median,
  megabytes,
  take,
  wrong,
} from './drillParts.ts';
import { damage, fullDisks, kills, wrongKeys } from './harm.ts';
import { logDrill } from './logDrill.ts';
import { pointInTime } from './pointInTime.ts';
import { askProduction, createUntil, identityOf, type Made, makeSite, missingIn, startOn } from './site.ts';

const checkedPayments = 500;

/** Backups under load, in turns with load alone, and the last of them. Everything from before it must be in it. */
const underLoad = async (drill: Drill, to: string): Promise<{ file: string; before: Made[]; all: Made[] }> => {
  const { site, rounds, secondsEach, tell } = drill;
  const [all, alone, beside]: [Made[], number[], number[]] = [[], [], []];
  const measure = async (isEnough: () => boolean, into: number[]): Promise<void> => {
    const startedMs = performance.now();
    const made = await createUntil(site.running, site.keys.sandbox, isEnough);
    into.push((made.length * 1_000) / (performance.now() - startedMs));
    all.push(...made);
  };
  let taken = { file: '', bytes: 0, seconds: 0 };
  let before: Made[] = [];
  for (let round = 0; round < rounds; round++) {
    const endMs = performance.now() + secondsEach * 1_000;
    await measure(() => performance.now() >= endMs, alone);
    before = [...all];
    let isDone = false;
    const backup = take(drill, to).finally(() => {
      isDone = true;
    });
    await measure(() => isDone, beside);
    taken = await backup;
    tell(`backup under load: ${megabytes(taken.bytes)} in ${taken.seconds.toFixed(1)} s`);
  }
  const [without, during] = [median(alone), median(beside)];
  tell(
    `creates a second, medians: ${without.toFixed(0)} without a backup, ${during.toFixed(0)} with; ratio ${(during / without).toFixed(2)}`,
  );
  return { file: taken.file, before, all };
};

/** The restored Florin elsewhere, while the other one still runs. */
const elsewhere = async (drill: Drill, file: string, before: readonly Made[], all: readonly Made[]): Promise<void> => {
  const { site, more, tell } = drill;
  const target = join(site.room, 'elsewhere');
  const args = ['restore', '--from', file, '--identity', identityOf(site), '--data-dir', target];
  const without = await command(args);
  check(
    drill,
    'a restore without the master key says so',
    wrong(without.code !== 2 || !without.stderr.includes('--master-key-file'), without.stderr),
  );
  const { seconds, json } = await answer([...args, '--master-key-file', join(site.dataDir, 'keys', 'master')]);
  tell(`restored ${megabytes(json.bytes)} in ${seconds.toFixed(1)} s`);
  const startedMs = performance.now();
  const restored = await startOn(target);
  tell(`the restored Florin was ready after ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
  try {
    check(drill, 'florin doctor --deep finds nothing but the review', await findingsAgainst(target));
    const production = await askProduction(restored, site.keys.production);
    check(
      drill,
      'production is closed until a review, without a word from the operator',
      wrong(!production.startsWith('503') || !production.includes('restored from a backup'), production),
    );
    const sample = before.slice(-checkedPayments);
    check(drill, 'every payment from before the backup is there', await missingIn(restored, site.keys.sandbox, sample));
    const made = await createUntil(restored, site.keys.sandbox, begun => begun >= more);
    const known = new Set(all.map(({ address }) => address));
    const repeated = made.filter(({ address }) => known.has(address));
    check(
      drill,
      `${made.length} new payments repeat no address`,
      repeated.map(({ address }) => address),
    );
  } finally {
    await restored.stop();
  }
  const started = await startOn(target);
  await started.stop();
  const left = (await readdir(target)).includes('restored-backup.json');
  check(drill, 'the restore is declared once', wrong(left, 'the mark is still there'));
};

/** Everything that a backup must do, on a Florin of its own. */
export const runDrill = async (options: DrillOptions): Promise<readonly Check[]> => {
  const { payments, seed, tell } = options;
  const site = await makeSite({ archives: options.withLog });
  try {
    const drill: Drill = { ...options, site, checks: [] };
    if (options.withLog) await logDrill(drill);
    const first = seed === null ? await createUntil(site.running, site.keys.sandbox, begun => begun >= payments) : [];
    await seed?.(site, payments);
    tell(`${payments} payments are written`);
    const { file, before, all } = await underLoad(drill, site.backups);
    const key = await readFile(join(site.dataDir, 'keys', 'master'), 'utf8');
    await elsewhere(drill, file, [...first, ...before], [...first, ...all]);
    await damage(drill, file);
    await wrongKeys(drill);
    await kills(drill, file);
    await fullDisks(drill, file);
    const unchanged = (await readFile(join(site.dataDir, 'keys', 'master'), 'utf8')) === key;
    check(drill, 'the Florin that was backed up still runs', [
      ...wrong(!unchanged, 'its key changed'),
      ...wrong(
        (await createUntil(site.running, site.keys.sandbox, begun => begun >= 10)).length < 10,
        'it creates nothing',
      ),
    ]);
    if (options.withLog) await pointInTime(drill, [...first, ...all]);
    return drill.checks;
  } finally {
    await site.end();
  }
};
