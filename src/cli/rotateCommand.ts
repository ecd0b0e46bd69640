import type { Command } from 'commander';
import { FlorinError } from '../core/errors.ts';
import { silentLog } from '../core/log.ts';
import { type Rotated, rotateMasterKey } from '../engine/keys/rotateMasterKey.ts';
import { readKeyState } from '../storage/keys/keyState.ts';
import { createNextKey, findFormerKey, type MasterKey, nextKeyPath } from '../vault/masterKey.ts';
import { type Common, common, print } from './commands.ts';
import { type OpenStorage, openAdmin, openStorage } from './compose.ts';
import { type Config, loadConfig } from './config.ts';
import { loadKeys, openKeys, settleKeys } from './masterKeys.ts';

type RotateOptions = Common & { prepare?: boolean };

/** One page of a long audit log, and the lock of a busy row, may take longer than a request may. */
const queryTimeoutMs = 60_000;
const reportedRows = 50_000;

/** A line for each table that was gone through, and for each 50,000 rows. */
const progress = (): ((table: string, rows: number) => void) => {
  let [at, told] = ['', 0];
  return (table, rows) => {
    if (table !== at) told = 0;
    if (table === at && rows - told < reportedRows) return;
    [at, told] = [table, rows];
    console.error(`${table}: ${rows} rows`);
  };
};

const ends = [
  'Recovery codes have ended: everybody with an authenticator makes new ones on the page My account.',
  'Known devices are new ones again: guesses at a password count them as such.',
  'Simulations on open sandbox checkouts fail until the page is opened again.',
  'Alerts to FLORIN_ALERT_URL are signed with a new secret: florin secrets alert.',
];

const report = (rotated: Rotated, steps: readonly string[]): string => {
  const { remade, forged, withoutCodes } = rotated;
  return [
    `The master key is replaced. ${remade} values were made anew.`,
    ...steps,
    ...ends,
    `People with an authenticator and without recovery codes: ${withoutCodes.length}. --json names them.`,
    ...(forged.length === 0 ? [] : [`Changed in the database, and refused as before: ${forged.length}`, ...forged]),
  ].join('\n');
};

const nextKeyOf = async (config: Config, current: MasterKey): Promise<MasterKey> => {
  const { next } = await loadKeys(config);
  if (next?.fingerprint === current.fingerprint) {
    throw new FlorinError(
      'conflict',
      `The next key is in force already. Delete ${nextKeyPath(config.dataDir)}, or remove FLORIN_NEXT_MASTER_KEY.`,
    );
  }
  return next ?? createNextKey(config.dataDir, current);
};

const waiting = (holders: readonly string[]): void =>
  console.error(
    `Waiting for ${holders.length === 1 ? 'a process' : `${holders.length} processes`} without the next key: ${holders.join(', ')}. Each names itself in its file instance. If this does not end, give them keys/master.next.`,
  );

/** What the operator does with the keys that there are now. */
const adviceOf = async (config: Config, from: MasterKey, step: string | null): Promise<string[]> => {
  const kept = await findFormerKey(config.dataDir, from.fingerprint);
  const until = 'keep it as long as you keep backups from before today, then destroy it';
  return [
    ...(step === null ? [] : [step]),
    kept === null ? `The former key is where you set it: ${until}.` : `The former key is in ${kept}: ${until}.`,
    'Make a backup of the database and of the new key now.',
  ];
};

const rotate = async (config: Config, storage: OpenStorage, options: RotateOptions): Promise<void> => {
  const { master } = await loadKeys(config);
  const ring = await openKeys(config, storage.db, silentLog);
  const { inForce } = await readKeyState(storage.db);
  if (ring.held().current.fingerprint === inForce && master.fingerprint !== inForce) {
    const steps = await adviceOf(config, master, await settleKeys(config, inForce, silentLog));
    return print(options, { rotated: false, steps }, ['An earlier run replaced the master key.', ...steps].join('\n'));
  }
  const { current, other, isNext } = ring.held();
  const from = isNext ? other! : current;
  const to = isNext ? current : (other ?? (await nextKeyOf(config, current)));
  if (options.prepare) {
    const path = nextKeyPath(config.dataDir);
    return print(options, { path }, `The next key is in ${path}. Nothing uses it yet.`);
  }
  ring.hold({ current: to, other: from, isNext: true });
  const admin = await openAdmin(config, storage, silentLog, ring);
  const rotated = await rotateMasterKey({ admin, from, to, progress: progress(), waiting });
  const steps = await adviceOf(config, from, await settleKeys(config, to.fingerprint, silentLog));
  print(options, { rotated: true, ...rotated, steps, ends }, report(rotated, steps));
};

export const addRotateCommand = (program: Command): void => {
  const group = program.command('rotate').description('Replace the key that everything is sealed with.');
  common(
    group
      .command('master-key')
      .description(
        'Replace the master key while Florin runs. Addresses, API keys, webhook secrets and sessions stay; recovery codes end. A run that was stopped goes on when the command is run again.',
      ),
  )
    .option('--prepare', 'Only create the next key, to give it to other data directories first.')
    .action(async (options: RotateOptions) => {
      const config = await loadConfig({ flags: { dataDir: options.dataDir } });
      const storage = await openStorage(config, silentLog, { queryTimeoutMs });
      try {
        await rotate(config, storage, options);
      } finally {
        await storage.stop();
      }
    });
};
