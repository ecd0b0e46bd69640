import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { answer, command, killedInTheMiddle } from './commands.ts';
import { addressesIn, repeatedIn, withDatabase } from './database.ts';
import { check, type Drill, findingsAgainst, megabytes, wrong } from './drillParts.ts';
import { flipBit } from './harm.ts';
import { createUntil, identityOf, type Made, missingIn, type Site, startOn } from './site.ts';

const lookEveryMs = 200;
const longestWaitMs = 600_000;

const timeOf = (dataDir: string): Promise<Date> =>
  withDatabase(dataDir, async client => (await client.query('select clock_timestamp() as at')).rows[0].at);

/** Waits until everything that is committed is archived. */
export const archived = async (dataDir: string): Promise<void> => {
  const at = await timeOf(dataDir);
  for (const endMs = performance.now() + longestWaitMs; ; await pause(lookEveryMs)) {
    const record = JSON.parse(await readFile(join(dataDir, 'log-archive.json'), 'utf8').catch(() => 'null'));
    if (Date.parse(record?.archivedAt ?? 0) > at.getTime()) return;
    if (performance.now() > endMs) throw new Error(`The log is not archived: ${JSON.stringify(record)}`);
  }
};

export const restoreUntil = (site: Site, until: string, target: string): string[] => [
  ...['restore', '--from', site.backups, '--until', until, '--identity', identityOf(site), '--data-dir', target],
  ...['--master-key-file', join(site.dataDir, 'keys', 'master')],
];

const logFolder = async ({ backups }: Site): Promise<string> =>
  join(
    backups,
    (await readdir(backups))
      .filter(name => name.startsWith('florin-log-'))
      .sort()
      .at(-1)!,
  );

/** Of each kind of file, one with a flipped bit. Backups are tried elsewhere: here, only the log is copied. */
export const damageLog = async (drill: Drill, site: Site): Promise<void> => {
  const folder = await logFolder(site);
  const names = await readdir(folder);
  const kinds = [/^[0-9A-F]{24}\.[0-9a-f]{32}\./, /\.part\./, /^devchain-/];
  const chosen = kinds.flatMap(kind => names.filter(name => kind.test(name)).slice(-2));
  const copy = join(site.room, 'damaged-log');
  await mkdir(join(copy, basename(folder)), { recursive: true });
  for (const name of chosen) await cp(join(folder, name), join(copy, basename(folder), name));
  const verify = () => command(['backup', 'verify', copy, '--identity', identityOf(site)]);
  const whole = await verify();
  check(drill, 'the archived log verifies', wrong(whole.code !== 0, whole.stdout + whole.stderr));
  const unnoticed: string[] = [];
  for (const name of chosen) {
    const file = join(copy, basename(folder), name);
    const at = drill.random.below((await readFile(file)).length);
    await flipBit(file, at, 3);
    const { code, stdout } = await verify();
    if (code !== 1 || !stdout.includes(name)) unnoticed.push(`${name}, byte ${at}: ${code} ${stdout}`);
    await flipBit(file, at, 3);
  }
  check(drill, `a flipped bit in each of ${chosen.length} files of the log is found, and the file is named`, unnoticed);
};

/** Payments are created before, at and after the time that is returned. */
const loadAcross = async (site: Site, each: number): Promise<{ at: Date; made: Made[] }> => {
  let [reached, isOver] = [() => {}, false];
  const enough = new Promise<void>(resolve => {
    reached = resolve;
  });
  let endsAt = Number.POSITIVE_INFINITY;
  const load = createUntil(site.running, site.keys.sandbox, begun => {
    if (begun >= each) reached();
    if (isOver && endsAt === Number.POSITIVE_INFINITY) endsAt = begun + each;
    return begun >= endsAt;
  });
  await Promise.race([enough, load]);
  // A restore tells its progress by segments.
  await withDatabase(site.dataDir, client => client.query('select pg_switch_wal()'));
  await Promise.race([createUntil(site.running, site.keys.sandbox, begun => begun >= 1), load]);
  const at = await timeOf(site.dataDir);
  isOver = true;
  return { at, made: await load };
};

/** A restore that is killed while it copies, and one while it plays the log. */
const killedRestores = async (drill: Drill, at: Date): Promise<void> => {
  for (const [stage, progress] of Object.entries({ copies: / restored/, 'plays the log': / of the log played/ })) {
    const half = join(drill.site.room, `killed-while-it-${stage.replaceAll(' ', '-')}`);
    const ended = await killedInTheMiddle(restoreUntil(drill.site, at.toISOString(), half), progress);
    const refused = await command(['start', '--port', '0', '--sandbox-port', '0', '--data-dir', half]);
    check(drill, `a restore to a time that is killed while it ${stage} leaves nothing that starts`, [
      ...wrong(ended.code !== null, `it ended before: ${ended.stderr}`),
      ...wrong(refused.code === 0 || !refused.stderr.includes('did not end'), refused.stderr),
    ]);
    await rm(half, { recursive: true, force: true });
  }
};

/** Somebody drops a table. Everything from before it comes back, and no address is handed out twice. */
export const pointInTime = async (drill: Drill): Promise<void> => {
  const { site, more, tell } = drill;
  const { at, made: across } = await loadAcross(site, Math.min(more, 500));
  const before = across.filter(({ answeredAt }) => answeredAt < at);
  const lost = across.filter(({ askedAt }) => askedAt > at);
  const known = await addressesIn(site.dataDir);
  await pause(1_000);
  await withDatabase(site.dataDir, client => client.query('drop table payments cascade'));
  await archived(site.dataDir);
  await damageLog(drill, site);
  await killedRestores(drill, at);
  const target = join(site.room, 'before-the-drop');
  const { seconds, json } = await answer(restoreUntil(site, at.toISOString(), target));
  tell(`restored ${megabytes(json.bytes)} and played the log until ${json.recoveredTo} in ${seconds.toFixed(1)} s`);
  const restored = await startOn(target);
  try {
    const kept = await addressesIn(target);
    const unclear = across.length - before.length - lost.length;
    const least = known.size - lost.length - unclear;
    check(drill, `every payment from before the time is there, and none of ${lost.length} from after it`, [
      ...wrong(before.length === 0 || lost.length === 0, 'the load was not on both sides of the time'),
      ...wrong(kept.size < least || kept.size > least + unclear, `${kept.size}, at least ${least}, ${unclear} unclear`),
      ...(await missingIn(restored, site.keys.sandbox, before)),
      ...lost.filter(({ address }) => kept.has(address.toLowerCase())).map(({ id }) => `${id} is there`),
    ]);
    check(
      drill,
      'after a point in time, florin doctor --deep finds nothing but the review',
      await findingsAgainst(target),
    );
    const made = await createUntil(restored, site.keys.sandbox, begun => begun >= more, { mixed: true });
    check(
      drill,
      `after a point in time, ${made.length} new payments repeat none of ${known.size} addresses`,
      repeatedIn(known, made),
    );
  } finally {
    await restored.stop();
  }
};
