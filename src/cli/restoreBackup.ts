import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { FlorinError, invalid } from '../core/errors.ts';
import type { BackupFacts } from '../local/backup/backupItems.ts';
import { extractBackup } from '../local/backup/extractBackup.ts';
import type { BackupRead } from '../local/backup/readBackup.ts';
import { parseMasterKey } from '../vault/masterKey.ts';
import { backupsBefore } from './backupFolder.ts';
import { createProgress, sizeText } from './backupProgress.ts';
import { type Common, common, print } from './commands.ts';
import { type Config, loadConfig } from './config.ts';
import { interruptible } from './interruptible.ts';
import { type Played, playLog } from './playLog.ts';
import { type KeyOptions, obtainKey, openBackup, readingOptions } from './readableBackup.ts';

/** A time, or the end of the archived log. */
type Until = Date | 'latest';

const timeOf = (until: Until): Date | null => (until === 'latest' ? null : until);

type RestoreOptions = Common & KeyOptions & { from: string; masterKeyFile?: string; until?: Until };

const neverRight = 'No address or secret could be verified with it.';

/** The key that a backup lacks. Null if the backup has it. */
const neededKey = ({ hasMasterKey }: BackupFacts, given: string | null, { masterKey }: Config): string | null => {
  if (hasMasterKey) return null;
  const text = given ?? masterKey;
  if (text !== null) return parseMasterKey(text).fingerprint;
  throw invalid(
    undefined,
    'The backup does not contain the master key. Give it with --master-key-file FILE, or in FLORIN_MASTER_KEY.',
  );
};

const refuseOtherKey = (fingerprint: string | null, wanted: string | null): void => {
  if (fingerprint === null || wanted === null || fingerprint === wanted) return;
  throw new FlorinError('conflict', `The master key is not the one of this backup. ${neverRight}`);
};

/** It may have been replaced between the backup and the wanted time. */
const refuseOtherKeyAfter = (used: string | null, { masterKeyFingerprint: wanted, recoveredTo }: Played): void => {
  if (used === null || wanted === null || used === wanted) return;
  const when = recoveredTo.toISOString();
  throw new FlorinError('conflict', `The master key is not the one that the database had at ${when}. ${neverRight}`);
};

async function* untilAborted(source: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    signal.throwIfAborted();
    yield chunk;
  }
}

type Restored = BackupRead & { readonly file: string; readonly played: Played | null };
type Source = { readonly file: string; readonly until: Until | undefined; readonly given: string | null };

/** It ended after the wanted time: an older one is needed. */
class BackupTooNew extends FlorinError {}

const restoreFile = async (
  { file, until, given }: Source,
  options: RestoreOptions,
  config: Config,
  signal: AbortSignal,
): Promise<Restored> => {
  let played: Played | null = null;
  let fingerprint: string | null = null;
  const begin = async (facts: BackupFacts): Promise<void> => {
    fingerprint = neededKey(facts, given, config);
    // With the log, the key is that of the time that it is played to.
    if (until === undefined) refuseOtherKey(fingerprint, facts.masterKeyFingerprint);
  };
  const complete = async (root: string, { end, facts }: BackupRead): Promise<void> => {
    if (until === undefined) return;
    if (end === null || end.log === null) {
      throw new FlorinError('conflict', `The log was not archived when ${file} was taken. Restore it without --until.`);
    }
    const time = timeOf(until);
    if (time !== null && Date.parse(end.endedAt) >= time.getTime()) {
      throw new BackupTooNew('conflict', `${file} ended at ${end.endedAt}. Give a later time, or an older backup.`);
    }
    console.error(`Playing the log since ${end.endedAt}`);
    const key = await obtainKey(options, new Uint8Array(0));
    const onBytes = createProgress('of the log played');
    const order = { root, directory: dirname(file), continuation: end.log, until: time, key, signal, onBytes };
    played = await playLog(order, new Date(end.endedAt));
    refuseOtherKeyAfter(fingerprint ?? facts.masterKeyFingerprint, played);
  };
  const { dataDir } = config;
  const onBytes = createProgress('restored');
  const read = await extractBackup(untilAborted(openBackup(file, options), signal), {
    dataDir,
    masterKey: given,
    begin,
    complete,
    onBytes,
  });
  return { ...read, file, played };
};

/** Of a directory, the newest backup that ended before the time. */
const restoreFrom = async (options: RestoreOptions, config: Config, given: string | null): Promise<Restored> => {
  const { from, until } = options;
  const isDirectory = from !== '-' && (await stat(from)).isDirectory();
  if (isDirectory && until === undefined) {
    throw invalid('from', `${from} is a directory. Name one of its files, or a time with --until.`);
  }
  if (from === '-' && until !== undefined) throw invalid('from', 'The log is beside the backup: name its file.');
  if (until !== undefined && options.identity === undefined) {
    throw invalid('identity', 'The archived log is encrypted for a public key: give the file with --identity.');
  }
  return interruptible(async signal => {
    const files = isDirectory ? await backupsBefore(from, timeOf(until!)) : [{ file: from }];
    for (const [at, { file }] of files.entries()) {
      try {
        return await restoreFile({ file, until, given }, options, config, signal);
      } catch (error) {
        if (!(error instanceof BackupTooNew) || at === files.length - 1) throw error;
        console.error(`${error.message} Taking an older one.`);
      }
    }
    throw new Error('There is no backup to restore.');
  });
};

const restore = async (options: RestoreOptions): Promise<void> => {
  const config = await loadConfig({ flags: { dataDir: options.dataDir } });
  const { dataDir, database } = config;
  if (database !== null) {
    throw new FlorinError(
      'conflict',
      'A backup contains the embedded database, and DATABASE_URL names another one. Unset it.',
    );
  }
  const given =
    options.masterKeyFile === undefined ? null : `${(await readFile(options.masterKeyFile, 'utf8')).trim()}\n`;
  const { facts, file, played, files, bytes } = await restoreFrom(options, config, given);
  const { backupAt, hasMasterKey } = facts;
  const recoveredTo = played?.recoveredTo.toISOString() ?? null;
  const key = hasMasterKey || given !== null ? '' : ' Start it with the same FLORIN_MASTER_KEY.';
  const further = recoveredTo === null ? '' : ` The log was played up to the transaction of ${recoveredTo}.`;
  const text = [
    `The backup of ${backupAt} is in ${dataDir}: ${files} files, ${sizeText(bytes)}.${further}`,
    `Next: florin start --data-dir ${dataDir}${key}`,
    'This start declares the restore by itself. Addresses that may have been given out since are skipped and watched, and production stays closed until an owner of each account has reviewed it. Then run florin doctor.',
    'Stop the Florin that the backup is of, unless this is a drill: both would send its webhooks.',
  ].join('\n');
  print(options, { dataDir, file, backupAt, recoveredTo, files, bytes }, text);
};

const untilOf = (text: string): Until => {
  if (text === 'latest') return text;
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(text) || Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError('It must be an ISO 8601 time with its zone, as 2026-11-19T04:00:00Z, or latest.');
  }
  if (time.getTime() > Date.now()) throw new InvalidArgumentError('It must not be in the future. For all, say latest.');
  return time;
};

export const addRestore = (program: Command): void => {
  const command = common(
    program
      .command('restore')
      .description(
        'Restore a backup of florin backup into an empty data directory. The next start there declares the restore.',
      ),
  )
    .requiredOption(
      '--from <path>',
      'The backup; - is the standard input. With --until, also the directory of backups.',
    )
    .addOption(
      new Option(
        '--until <time>',
        'Play the archived log beside the backup up to this ISO 8601 time, with its zone; latest plays all of it.',
      ).argParser(untilOf),
    )
    .addOption(new Option('--master-key-file <file>', 'File with the master key, if the backup does not contain it.'));
  readingOptions(command).action((options: RestoreOptions) => restore(options));
};
