import { cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { findSuperuser } from '../../../src/local/postgres/startPostgres.ts';
import { answer, command, killedInTheMiddle } from './commands.ts';
import { check, type Drill, findingsAgainst, megabytes, wrong } from './drillParts.ts';
import { flipBit } from './harm.ts';
import { createUntil, identityOf, type Made, missingIn, type Site, startOn } from './site.ts';

const lookEveryMs = 200;
const longestWaitMs = 600_000;

/** Answers of the database, one for each statement. */
const ask = async (dataDir: string, ...statements: readonly string[]): Promise<{ at: Date; count: number }[]> => {
  const client = new pg.Client({ ...(await findSuperuser({ dataDir }))!, database: 'florin' });
  await client.connect();
  try {
    const rows = [];
    for (const text of statements) rows.push((await client.query(text)).rows[0]);
    return rows;
  } finally {
    await client.end();
  }
};

const now = 'select clock_timestamp() as at';

/** Waits until everything that is committed is archived. */
export const archived = async (dataDir: string): Promise<void> => {
  const { at } = (await ask(dataDir, now))[0]!;
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

/** Somebody drops a table. Everything from before it comes back, and no address is handed out twice. */
export const pointInTime = async (drill: Drill, known: readonly Made[]): Promise<void> => {
  const { site, more, tell } = drill;
  const later = await createUntil(site.running, site.keys.sandbox, begun => begun >= Math.min(more, 500));
  await pause(100);
  const [{ at }, { count }] = (await ask(site.dataDir, now, 'select count(*)::int as count from payments')) as [
    { at: Date; count: number },
    { at: Date; count: number },
  ];
  await pause(100);
  // These are lost, and their addresses must not come again.
  const lost = await createUntil(site.running, site.keys.sandbox, begun => begun >= 50);
  await pause(1_000);
  await ask(site.dataDir, 'drop table payments cascade');
  await archived(site.dataDir);
  await damageLog(drill, site);
  const half = join(site.room, 'half-played');
  await killedInTheMiddle(restoreUntil(site, at.toISOString(), half));
  const refused = await command(['start', '--port', '0', '--sandbox-port', '0', '--data-dir', half]);
  check(drill, 'a restore to a time that is killed leaves nothing that starts', [
    ...wrong(refused.code === 0 || !refused.stderr.includes('did not end'), refused.stderr),
  ]);
  const target = join(site.room, 'before-the-drop');
  const { seconds, json } = await answer(restoreUntil(site, at.toISOString(), target));
  tell(`restored ${megabytes(json.bytes)} and played the log until ${json.recoveredTo} in ${seconds.toFixed(1)} s`);
  const restored = await startOn(target);
  try {
    const [found] = await ask(target, 'select count(*)::int as count from payments');
    check(drill, 'every payment from before the time is there, and none from after it', [
      ...wrong(found!.count !== count, `${found!.count} instead of ${count}`),
      ...(await missingIn(restored, site.keys.sandbox, later)),
      ...wrong((await missingIn(restored, site.keys.sandbox, lost)).length !== lost.length, 'later ones are there'),
    ]);
    check(
      drill,
      'after a point in time, florin doctor --deep finds nothing but the review',
      await findingsAgainst(target),
    );
    const made = await createUntil(restored, site.keys.sandbox, begun => begun >= more);
    const handedOut = new Set([...known, ...later, ...lost].map(({ address }) => address));
    const repeated = made.filter(({ address }) => handedOut.has(address)).map(({ address }) => address);
    check(drill, `after a point in time, ${made.length} new payments repeat no address`, repeated);
  } finally {
    await restored.stop();
  }
};
