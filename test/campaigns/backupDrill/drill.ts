import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { answer, command } from './commands.ts';
import { addressesIn, countPayments, repeatedIn } from './database.ts';
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
/** Beside those that are seeded, which have no extended public key. */
const mixedPayments = 500;

type UnderLoad = {
  readonly file: string;
  /** How many payments the database had when the last backup began, and when it had ended. */
  readonly counts: readonly [number, number];
  /** What was acknowledged before it began. */
  readonly before: readonly Made[];
};

/** Backups under load, in turns with load alone, and the last of them. Everything from before it must be in it. */
const underLoad = async (drill: Drill, to: string): Promise<UnderLoad> => {
  const { site, rounds, secondsEach, leastShare, tell } = drill;
  const [all, alone, beside]: [Made[], number[], number[]] = [[], [], []];
  const measure = async (isEnough: () => boolean, into: number[]): Promise<void> => {
    const startedMs = performance.now();
    const made = await createUntil(site.running, site.keys.sandbox, isEnough);
    into.push((made.length * 1_000) / (performance.now() - startedMs));
    all.push(...made);
  };
  let taken = { file: '', bytes: 0, seconds: 0 };
  let before: Made[] = [];
  const counts: [number, number] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    const endMs = performance.now() + secondsEach * 1_000;
    await measure(() => performance.now() >= endMs, alone);
    before = [...all];
    counts[0] = await countPayments(site.dataDir);
    let isDone = false;
    const backup = take(drill, to).finally(() => {
      isDone = true;
    });
    await measure(() => isDone, beside);
    taken = await backup;
    counts[1] = await countPayments(site.dataDir);
    tell(`backup under load: ${megabytes(taken.bytes)} in ${taken.seconds.toFixed(1)} s`);
  }
  const [without, during] = [median(alone), median(beside)];
  const share = during / without;
  tell(
    `creates a second, medians: ${without.toFixed(0)} without a backup, ${during.toFixed(0)} with; ratio ${share.toFixed(2)}`,
  );
  if (leastShare !== null) {
    const slow = `the ratio is ${share.toFixed(2)}`;
    check(drill, `creates go on at ${leastShare} of their rate while a backup runs`, wrong(share < leastShare, slow));
  }
  return { file: taken.file, counts, before };
};

/** The restored Florin elsewhere, while the other one still runs. */
const elsewhere = async (drill: Drill, { file, counts, before }: UnderLoad): Promise<void> => {
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
    const count = await countPayments(target);
    const [least, most] = counts;
    check(drill, `every payment from before the backup is there, ${count} in all`, [
      ...wrong(count < least || count > most, `${count} are there, and there were ${least} to ${most}`),
      ...(await missingIn(restored, site.keys.sandbox, sample)),
    ]);
    const made = await createUntil(restored, site.keys.sandbox, begun => begun >= more, { mixed: true });
    const known = await addressesIn(site.dataDir);
    check(drill, `${made.length} new payments repeat none of ${known.size} addresses`, repeatedIn(known, made));
  } finally {
    await restored.stop();
  }
  const started = await startOn(target);
  await started.stop();
  const left = (await readdir(target)).includes('restored-backup.json');
  check(drill, 'the restore is declared once', wrong(left, 'the mark is still there'));
};

/** A backup that has the master key needs nothing else to be restored. */
const withItsKey = async (drill: Drill): Promise<void> => {
  const { site } = drill;
  const { file } = await take(drill, site.room, ['--recipient', site.recipient, '--with-master-key']);
  const target = join(site.room, 'with-its-key');
  await answer(['restore', '--from', file, '--identity', identityOf(site), '--data-dir', target]);
  const restored = await startOn(target);
  try {
    const made = await createUntil(restored, site.keys.sandbox, begun => begun >= 10, { mixed: true });
    check(
      drill,
      'a backup with the master key is restored without it',
      repeatedIn(await addressesIn(site.dataDir), made),
    );
  } finally {
    await restored.stop();
    await rm(target, { recursive: true, force: true });
  }
};

/** Everything that a backup must do, on a Florin of its own. */
export const runDrill = async (options: DrillOptions): Promise<readonly Check[]> => {
  const { payments, seed, tell } = options;
  const site = await makeSite({ archives: options.withLog });
  try {
    const drill: Drill = { ...options, site, checks: [] };
    if (options.withLog) await logDrill(drill);
    await seed?.(site, payments);
    const byApi = seed === null ? payments : mixedPayments;
    await createUntil(site.running, site.keys.sandbox, begun => begun >= byApi, { mixed: true });
    tell(`${payments} payments are written`);
    const underway = await underLoad(drill, site.backups);
    const { file } = underway;
    const key = await readFile(join(site.dataDir, 'keys', 'master'), 'utf8');
    await elsewhere(drill, underway);
    await withItsKey(drill);
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
    if (options.withLog) await pointInTime(drill);
    return drill.checks;
  } finally {
    await site.end();
  }
};
