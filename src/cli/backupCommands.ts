import { open, stat } from 'node:fs/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { invalid } from '../core/errors.ts';
import { readBackup, verifyingSink } from '../local/backup/readBackup.ts';
import { type AgeLock, isRecipient, makeIdentity } from '../vault/ageFile.ts';
import { createProgress, sizeText } from './backupProgress.ts';
import { type Common, common, print } from './commands.ts';
import { type Config, loadConfig } from './config.ts';
import { interruptible } from './interruptible.ts';
import { lowerPriority } from './lowerPriority.ts';
import { type KeyOptions, openBackup, readingOptions } from './readableBackup.ts';
import { readBackupPassphrase } from './readPassphrase.ts';
import { addRestore } from './restoreBackup.ts';
import { takeBackup } from './takeBackup.ts';
import { verifyFolder } from './verifyFolder.ts';

type TakeOptions = Common & {
  to: string;
  recipient?: string[];
  passphraseFile?: string;
  plain?: boolean;
  withMasterKey?: boolean;
  scheduled?: boolean;
};

const lockOf = async (options: TakeOptions, { backupRecipients }: Config): Promise<AgeLock | null> => {
  if (options.plain) return null;
  const recipients = options.recipient ?? (options.passphraseFile === undefined ? backupRecipients : []);
  if (recipients.length > 0) return { kind: 'recipients', recipients };
  const passphrase = await readBackupPassphrase(options.passphraseFile ?? null);
  if (passphrase !== null) return { kind: 'passphrase', passphrase };
  throw invalid(
    undefined,
    'Say how to encrypt the backup: --recipient age1…, --passphrase-file FILE, or not at all: --plain.',
  );
};

const take = async (options: TakeOptions, version: string): Promise<void> => {
  const priorityRefused = lowerPriority();
  if (priorityRefused !== null) console.error(`The system refused a lower priority (${priorityRefused}).`);
  const config = await loadConfig({ flags: { dataDir: options.dataDir } });
  const directory = options.to === '-' ? null : options.to;
  const onBytes = createProgress('read');
  const taken = await interruptible(async signal => {
    const lock = await lockOf(options, config);
    const isScheduled = options.scheduled ?? false;
    const withMasterKey = options.withMasterKey ?? false;
    return takeBackup({ config, version, directory, lock, withMasterKey, isScheduled, signal, onBytes });
  });
  const { file, bytes, backupAt } = taken;
  const key = options.withMasterKey
    ? 'The master key is in it.'
    : 'The master key is not in it: keep a copy of the key elsewhere.';
  const text = `Backed up what was there at ${backupAt}: ${sizeText(bytes)} in ${file ?? 'the output'}. ${key}`;
  // The standard output is the backup itself.
  if (file === null) console.error(text);
  else print(options, { ...taken, priorityRefused }, text);
};

const recipientOf = (text: string, before: string[] = []): string[] => {
  if (!isRecipient(text)) throw new InvalidArgumentError('It must be a public key of age, which begins with age1.');
  return [...before, text];
};

const addTake = (backup: Command, version: string): void => {
  const command = common(
    backup
      .command('take', { isDefault: true })
      .description('Back up the embedded database and the data directory of a running Florin, without stopping it.'),
  )
    .requiredOption('--to <dir>', 'A directory for the file; - is the standard output.')
    .addOption(
      new Option(
        '--recipient <key>',
        'Encrypt for this public key of age (age1…). May be repeated. Default: FLORIN_BACKUP_RECIPIENT.',
      )
        .argParser(recipientOf)
        .conflicts(['passphraseFile', 'plain']),
    )
    .addOption(
      new Option('--passphrase-file <file>', 'Encrypt with the passphrase in the first line of this file.').conflicts(
        'plain',
      ),
    )
    .addOption(
      new Option('--plain', 'Do not encrypt. Whoever reads the file reads your database.').conflicts('withMasterKey'),
    )
    .option('--with-master-key', 'Put the master key into the backup.')
    .addOption(new Option('--scheduled').hideHelp());
  command.action((options: TakeOptions) => take(options, version));
};

const verifyAll = async (directory: string, options: KeyOptions & { json?: boolean }): Promise<void> => {
  const { problems, ...read } = await verifyFolder(directory, options);
  const what = `${read.backups} backups and ${read.segments} segments of the log, ${sizeText(read.bytes)}`;
  const result = problems.length === 0 ? [`All are whole: ${what}.`] : [...problems, `Read: ${what}.`];
  // Nothing in the directory says that newer ones are missing.
  const newest = `The newest backup began at ${read.newestAt}. Compare it with florin doctor, or with your schedule.`;
  const text = [...result, ...(read.newestAt === null ? [] : [newest])].join('\n');
  print(options, { ok: problems.length === 0, ...read, problems }, text);
  if (problems.length > 0) process.exitCode = 1;
};

const addVerify = (backup: Command): void => {
  const command = backup
    .command('verify <path>')
    .description(
      'Decrypt a backup and check every byte of it. A path of - is the standard input; of a directory, all backups and the archived log in it are checked.',
    )
    .option('--json', 'Print JSON.');
  readingOptions(command).action(async (path: string, options: KeyOptions & { json?: boolean }) => {
    if (path !== '-' && (await stat(path)).isDirectory()) return verifyAll(path, options);
    const read = await readBackup(openBackup(path, options), verifyingSink, createProgress('verified'));
    const { facts, files, bytes } = read;
    const { backupAt, florin, postgres, hasMasterKey } = facts;
    const key = hasMasterKey ? 'with the master key' : 'without the master key';
    const text = `The backup of ${backupAt} is whole: ${files} files, ${sizeText(bytes)}, of Florin ${florin} and PostgreSQL ${postgres}, ${key}.`;
    print(options, { ok: true, backupAt, florin, postgres, hasMasterKey, files, bytes }, text);
  });
};

const addIdentity = (backup: Command): void => {
  backup
    .command('identity')
    .description(
      'Make a key pair of age: a new file with the secret key, which opens backups, and the public key for --recipient.',
    )
    .requiredOption('--output <file>', 'A new file. Keep it where the backups are not.')
    .option('--json', 'Print JSON.')
    .action(async (options: { output: string; json?: boolean }) => {
      const { identity, recipient } = await makeIdentity();
      const file = await open(options.output, 'wx', 0o600);
      try {
        await file.writeFile(`# public key: ${recipient}\n${identity}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      print(options, { file: options.output, recipient }, recipient);
    });
};

/** `florin backup` with its parts, and `florin restore`. */
export const addBackupCommands = (program: Command, version: string): void => {
  const backup = program
    .command('backup')
    .description('Back up a running Florin: florin backup --to DIR. See florin backup take --help.');
  addTake(backup, version);
  addVerify(backup);
  addIdentity(backup);
  addRestore(program);
};
