import { cp, mkdir, open, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { findSuperuser } from '../../../src/local/postgres/startPostgres.ts';
import { canMount, fillDisk, mountSmallDisk } from '../../support/smallDisk.ts';
import { command, killedInTheMiddle } from './commands.ts';
import { check, type Drill, take, verify, wrong } from './drillParts.ts';
import { identityOf } from './site.ts';

const passphrase = 'a quiet river at noon';

export const flipBit = async (file: string, at: number, bit: number): Promise<void> => {
  const handle = await open(file, 'r+');
  try {
    const byte = Buffer.alloc(1);
    await handle.read(byte, 0, 1, at);
    byte[0]! ^= 1 << bit;
    await handle.write(byte, 0, 1, at);
  } finally {
    await handle.close();
  }
};

export const damage = async (drill: Drill, file: string): Promise<void> => {
  const { site, random, flips } = drill;
  const whole = await verify(file, site);
  check(drill, 'the backup verifies', wrong(whole.code !== 0, whole.stderr));
  drill.tell(`verified in ${whole.seconds.toFixed(1)} s`);
  const { size } = await stat(file);
  const copy = join(site.room, 'damaged');
  await cp(file, copy);
  const unnoticed: string[] = [];
  for (let flip = 0; flip < flips; flip++) {
    const [at, bit] = [flip === 0 ? 30 : flip === 1 ? size - 1 : random.below(size), random.below(8)];
    await flipBit(copy, at, bit);
    const { code } = await verify(copy, site);
    if (code !== 1) unnoticed.push(`bit ${bit} of byte ${at}: exit code ${code}`);
    await flipBit(copy, at, bit);
  }
  check(drill, `each of ${flips} flipped bits is found`, unnoticed);
  await flipBit(copy, size - 5, 1);
  const target = join(site.room, 'from-damaged');
  const refused = await command([
    'restore',
    '--from',
    copy,
    '--identity',
    identityOf(site),
    '--data-dir',
    target,
    '--master-key-file',
    join(site.dataDir, 'keys', 'master'),
  ]);
  const left = await readdir(target).catch(() => []);
  check(drill, 'a damaged backup is not restored', [
    ...wrong(refused.code === 0, 'it was'),
    ...wrong(left.length > 0, `it left ${left.join(', ')}`),
  ]);
};

export const wrongKeys = async (drill: Drill): Promise<void> => {
  const { site } = drill;
  const [right, other] = [join(site.room, 'passphrase'), join(site.room, 'other-passphrase')];
  await writeFile(right, `${passphrase}\n`);
  await writeFile(other, `${passphrase}?\n`);
  const { file } = await take(drill, site.room, ['--passphrase-file', right]);
  const opened = await command(['backup', 'verify', file, '--passphrase-file', right]);
  const refused = await command(['backup', 'verify', file, '--passphrase-file', other]);
  check(drill, 'only the right passphrase opens a backup', [
    ...wrong(opened.code !== 0, opened.stderr),
    ...wrong(refused.code === 0 || !refused.stderr.includes('passphrase is wrong'), refused.stderr),
  ]);
};

const slotsOf = async (dataDir: string): Promise<number> => {
  const client = new pg.Client({ ...(await findSuperuser({ dataDir }))!, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    // The session of a killed process ends when the server next looks at its connection.
    await client.query(
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where application_name = 'florin backup'`,
    );
    return (await client.query('select 1 from pg_replication_slots where temporary')).rows.length;
  } finally {
    await client.end();
  }
};

export const kills = async (drill: Drill, file: string): Promise<void> => {
  const { site } = drill;
  const to = join(site.room, 'killed');
  await mkdir(to);
  await killedInTheMiddle(['backup', '--to', to, '--recipient', site.recipient, '--data-dir', site.dataDir]);
  const visible = (await readdir(to)).filter(name => !name.startsWith('.'));
  check(drill, 'a backup that is killed leaves no backup, and the server keeps no log for it', [
    ...wrong(visible.length > 0, `it left ${visible.join(', ')}`),
    ...wrong((await slotsOf(site.dataDir)) > 0, 'a replication slot is left'),
  ]);
  const { code, stderr } = await verify((await take(drill, to)).file, site);
  check(drill, 'the next backup is whole', wrong(code !== 0, stderr));

  const target = join(site.room, 'half');
  const key = ['--master-key-file', join(site.dataDir, 'keys', 'master')];
  const restore = ['restore', '--from', file, '--identity', identityOf(site), '--data-dir', target, ...key];
  await killedInTheMiddle(restore);
  const started = await command(['start', '--port', '0', '--sandbox-port', '0', '--data-dir', target]);
  const again = await command(restore);
  check(drill, 'a restore that is killed leaves nothing that starts', [
    ...wrong(started.code === 0 || !started.stderr.includes('did not end'), started.stderr),
    ...wrong(again.code === 0 || !again.stderr.includes('is not empty'), again.stderr),
  ]);
};

/** Of a size that has no room for what is written to it. */
const smallMegabytes = 16;

export const fullDisks = async (drill: Drill, file: string): Promise<void> => {
  const { site } = drill;
  if (!canMount) return drill.tell('skipped: a full disk needs root and mounts');
  const disk = join(site.room, 'small');
  const unmount = await mountSmallDisk(disk, smallMegabytes);
  try {
    const key = ['--master-key-file', join(site.dataDir, 'keys', 'master')];
    const target = join(disk, 'data');
    const restored = await command([
      'restore',
      '--from',
      file,
      '--identity',
      identityOf(site),
      '--data-dir',
      target,
      ...key,
    ]);
    const left = await readdir(target);
    check(drill, 'a restore on a full disk leaves nothing', [
      ...wrong(restored.code === 0 || !restored.stderr.includes('is full'), restored.stderr),
      ...wrong(left.length > 0, `it left ${left.join(', ')}`),
    ]);
    await fillDisk(join(disk, 'filler'));
    const taken = await command(['backup', '--to', disk, '--recipient', site.recipient, '--data-dir', site.dataDir]);
    const files = (await readdir(disk)).filter(name => name.includes('florin-'));
    check(drill, 'a backup to a full disk leaves nothing', [
      ...wrong(taken.code === 0 || !taken.stderr.includes('is full'), taken.stderr),
      ...wrong(files.length > 0, `it left ${files.join(', ')}`),
    ]);
  } finally {
    unmount();
  }
};
