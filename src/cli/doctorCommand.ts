import { type Command, Option } from 'commander';
import { hasCode } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import { silentLog } from '../core/log.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { overMark } from '../engine/keys/rotationMark.ts';
import { NoUsableHost, ReadOnlyServer } from '../storage/connect.ts';
import type { Database } from '../storage/database.ts';
import { type KeyState, readKeyState } from '../storage/keys/keyState.ts';
import { MigrationError } from '../storage/release.ts';
import { readStandbys } from '../storage/standbys.ts';
import { MasterKeyError } from '../vault/masterKey.ts';
import { createResolveHost } from '../webhooks/connect.ts';
import { judgeBackups, readBackupRecord } from './backupRecord.ts';
import { type Common, common } from './commands.ts';
import { openAdmin, openStorage } from './compose.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import {
  checkMigrations,
  examineAuditLogs,
  examineFacts,
  examineLedger,
  examineLimits,
  examineOutbox,
  examineRecords,
  examineRestores,
  examineSeals,
  examineWallets,
  type Told,
  verified,
} from './doctorChecks.ts';
import { examineExports } from './examineExports.ts';
import { judgeStandbys } from './judgeStandbys.ts';
import { checklist, examineLive, type LiveFinding, liveLine } from './live/checklist.ts';
import { judgeLogArchive, readLogArchiveRecord } from './logArchiveRecord.ts';

type DoctorOptions = Common & { deep?: boolean; live?: boolean; account?: string; accept?: string[] };
type Finding = Told & { readonly check: string };

const deepTimeoutMs = 3_600_000;

/** Migrations grant the rights of the service at their end. */
const insufficientPrivilege = '42501';

/** The message of an expected error. Every other error is a bug and is thrown. */
const sentenceOf = (error: unknown): string => {
  if (error instanceof ConfigError) return error.problems.join(' ');
  if (hasCode(error, insufficientPrivilege)) return 'Florin is still preparing the database. Try again in a minute.';
  const isKnown = error instanceof MigrationError || error instanceof MasterKeyError || error instanceof FlorinError;
  if (isKnown) return error.message;
  throw error;
};

type Check = readonly [name: string, work: () => Promise<Told>];

const checkRotation = ({ mark }: KeyState): Told =>
  mark === null || mark === overMark
    ? { ok: true, detail: 'none is under way' }
    : {
        ok: false,
        detail: 'the master key is being replaced, or the mark of that was changed: run florin rotate master-key',
      };

const backupCheck = (config: Config): Check => [
  'backups',
  async () => judgeBackups(await readBackupRecord(config), Date.now()),
];

const logArchiveCheck = (config: Config): Check => [
  'log archive',
  async () => judgeLogArchive(await readLogArchiveRecord(config), Date.now()),
];

const standbyCheck = (db: Database): Check => ['standby', async () => judgeStandbys(await readStandbys(db))];

const exportsCheck = ({ database }: Config, db: Database): Check[] =>
  database?.readUrl ? [['exports', () => examineExports(database.readUrl!, db)]] : [];

const limitsCheck = ({ redis }: Config, { vault }: AdminContext): Check[] =>
  redis === null ? [] : [['rate limits', () => examineLimits(redis, vault)]];

/** What only reading every row shows. */
const deepChecks = (db: Database): Check[] => [
  ['ledger facts', () => examineFacts(db)],
  ['records', () => examineRecords(db)],
];

/** Runs all checks. A check that depends on a failed one is skipped. */
export const examine = async (options: DoctorOptions): Promise<Finding[]> => {
  const findings: Finding[] = [];
  const check = async <T>(name: string, work: () => Promise<T>, tell: (value: T) => Told) => {
    try {
      const value = await work();
      const told = tell(value);
      findings.push({ check: name, ...told });
      return told.ok ? value : null;
    } catch (error) {
      findings.push({ check: name, ok: false, detail: sentenceOf(error) });
      return null;
    }
  };
  const config = await loadConfig({ flags: { dataDir: options.dataDir } });
  const opened = async () => {
    // Adding up every transfer of a large database takes minutes.
    const storage = await openStorage(config, silentLog, options.deep ? { queryTimeoutMs: deepTimeoutMs } : {});
    try {
      await storage.db.script('select 1');
      return storage;
    } catch (error) {
      await storage.stop();
      const why = error instanceof NoUsableHost || error instanceof ReadOnlyServer ? `: ${error.message}` : '';
      throw new FlorinError('service_unavailable', `The database does not answer${why}.`);
    }
  };
  const storage = await check('database', opened, () => ({ ok: true, detail: 'answers' }));
  if (!storage) return findings;
  try {
    const migrated = await check(
      'migrations',
      () => checkMigrations(storage.db),
      told => told,
    );
    if (!migrated) return findings;
    const admin = await check(
      'master key',
      () => openAdmin(config, storage),
      () => ({ ok: true, detail: 'matches the database' }),
    );
    if (!admin) return findings;
    const { db } = storage;
    const others: Check[] = [
      ['key rotation', async () => checkRotation(await readKeyState(db))],
      ['audit log', async () => verified(await examineAuditLogs(config, admin), 'rows')],
      ['seals', async () => verified(await examineSeals(config, admin), 'rows')],
      ['wallets', async () => verified(await examineWallets(admin), 'wallets')],
      ['ledger', () => examineLedger(db, options.deep ?? false)],
      ...(options.deep ? deepChecks(db) : []),
      ['restore', () => examineRestores(admin)],
      ['outbox', () => examineOutbox(db)],
      ...limitsCheck(config, admin),
      ...(config.database === null ? [backupCheck(config), logArchiveCheck(config)] : [standbyCheck(db)]),
      ...exportsCheck(config, db),
    ];
    for (const [name, work] of others) await check(name, work, told => told);
    return findings;
  } finally {
    await storage.stop();
  }
};

/** Null without --live. */
const goThroughChecklist = async (options: DoctorOptions): Promise<LiveFinding[] | null> => {
  if (!options.live) return null;
  const { account = null, accept = [] } = options;
  const config = await loadConfig({ flags: { dataDir: options.dataDir } });
  return examineLive(config, { account, accept, resolveHost: createResolveHost() }, sentenceOf);
};

const liveHelp = `
With --live, use the settings of the running server, and its directory with florin.config.*. Each line is a step of
docs/deploying.md. It asks your name servers, public addresses, nodes, metrics and mail server, and sends nothing else.`;

export const addDoctorCommand = (program: Command): void => {
  common(
    program
      .command('doctor')
      .description(
        'Check the database, its schema, the master key, the audit log, the seals of all rows, the wallets, the ledger, restores, the outbox, shared rate limits, and scheduled backups and the archived log or the standbys of your own server.',
      ),
  )
    .option(
      '--deep',
      'Also compare the whole ledger with the transfers that it is derived from, every forwarder address with its chain, and look for rows that were removed.',
    )
    .option('--live', 'Also go through the checklist before real payments, one line for each step.')
    .option('--account <id>', 'Account that --live looks at. Default: the first one.')
    .addOption(
      new Option('--accept <step...>', 'Steps of --live that you take as they are. They count as no problem.').choices(
        checklist.map(({ name }) => name),
      ),
    )
    .addHelpText('after', liveHelp)
    .action(async (options: DoctorOptions) => {
      const findings = await examine(options);
      const live = await goThroughChecklist(options);
      const isReady = live?.every(({ ok, accepted }) => ok || accepted) ?? true;
      const isWell = findings.every(finding => finding.ok) && isReady;
      const lines = findings.map(({ check, ok, detail }) => `${ok ? 'ok      ' : 'PROBLEM '} ${check}: ${detail}`);
      if (live) lines.push('', ...live.map(liveLine));
      const answer = { ok: isWell, findings, ...(live && { live }) };
      console.log(options.json ? JSON.stringify(answer) : lines.join('\n'));
      if (!isWell) process.exitCode = 1;
    });
};
