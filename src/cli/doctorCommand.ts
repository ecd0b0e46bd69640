import { access } from 'node:fs/promises';
import type { Command } from 'commander';
import { FlorinError } from '../core/errors.ts';
import { silentLog } from '../core/log.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { type Verified, verifyAuditLogs, verifyWalletHistory, verifyWallets } from '../engine/chain/verifyRecords.ts';
import { allChains, type ChainRow } from '../storage/chain/chains.ts';
import type { Database } from '../storage/database.ts';
import { countPendingMigrations, MigrationError } from '../storage/migrate.ts';
import { countParkedOutgoing } from '../storage/outbox.ts';
import { listDifferences } from '../storage/settlement/differences.ts';
import { ledgerFaults } from '../storage/settlement/ledger.ts';
import { allReconciliations } from '../storage/settlement/reconciliation.ts';
import { MasterKeyError } from '../vault/masterKey.ts';
import { keepAuditHeads } from './auditHeadsFile.ts';
import { type Common, common } from './commands.ts';
import { openAdmin, openStorage } from './compose.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';

type DoctorOptions = Common & { deep?: boolean };
type Finding = { readonly check: string; readonly ok: boolean; readonly detail: string };

const shownDifferences = 1_000;
const deepTimeoutMs = 3_600_000;

/** The message of an expected error. Every other error is a bug and is thrown. */
const sentenceOf = (error: unknown): string => {
  if (error instanceof ConfigError) return error.problems.join(' ');
  const isKnown = error instanceof MigrationError || error instanceof MasterKeyError || error instanceof FlorinError;
  if (isKnown) return error.message;
  throw error;
};

const verified = ({ checked, problems }: Verified, what: string): Omit<Finding, 'check'> => ({
  ok: problems.length === 0,
  detail: problems.length === 0 ? `${checked} ${what} verified` : problems.join('; '),
});

/** Compares the logs with the ends stored in the data directory, if there is one. */
const examineAuditLogs = async (config: Config, admin: AdminContext): Promise<Verified> => {
  const { checked, problems } = await verifyAuditLogs(admin);
  const hasDirectory = await access(config.dataDir).then(
    () => true,
    () => false,
  );
  // The end of a log with problems must not be stored.
  if (problems.length > 0 || !hasDirectory) return { checked, problems };
  return { checked, problems: await keepAuditHeads(config, admin) };
};

const examineWallets = async (admin: AdminContext): Promise<Verified> => {
  const { checked, problems } = await verifyWallets(admin);
  return { checked, problems: [...problems, ...(await verifyWalletHistory(admin))] };
};

/** A round takes hours with millions of addresses, and a new one starts every hour. */
const longestRoundHours = 48;

/** What is wrong with the comparison of forwarders on chains that are read now. */
const roundProblems = async (db: Database): Promise<string[]> => {
  const rounds = new Map((await allReconciliations(db)).map(round => [round.caip2, round]));
  const isRead = ({ leaseUntil }: ChainRow): boolean => leaseUntil !== null && leaseUntil.getTime() > Date.now();
  return (await allChains(db)).filter(isRead).flatMap(({ caip2 }) => {
    const round = rounds.get(caip2);
    const isLate = (round?.ageSeconds ?? 0) > longestRoundHours * 3_600;
    return isLate ? [`the comparison of addresses on ${caip2} takes more than ${longestRoundHours} hours`] : [];
  });
};

/** Open differences between addresses and the records. With `deep`, the whole ledger is compared with its facts. */
const examineLedger = async (db: Database, isDeep: boolean): Promise<Omit<Finding, 'check'>> => {
  const open = (await listDifferences(db, shownDifferences)).length;
  const count = open === shownDifferences ? `${open} or more` : `${open}`;
  const faults = isDeep ? await ledgerFaults(db) : [];
  const problems = [
    ...(open === 0 ? [] : [`open differences: ${count}. Run florin ledger differences`]),
    ...faults.map(
      ({ accountId, environment, caip2, contract, source, destination, posted, facts }) =>
        `${accountId} ${environment} ${caip2} ${contract ?? 'native coin'}: ${source} to ${destination} is ${posted}, and its facts add up to ${facts}`,
    ),
    ...(isDeep ? await roundProblems(db) : []),
  ];
  if (problems.length > 0) return { ok: false, detail: problems.join('; ') };
  return { ok: true, detail: isDeep ? 'equals its facts, and no difference is open' : 'no difference is open' };
};

const checkMigrations = async (db: Database): Promise<Omit<Finding, 'check'>> => {
  const pending = await countPendingMigrations(db);
  return pending === 0
    ? { ok: true, detail: 'up to date' }
    : { ok: false, detail: `${pending} are missing: run florin migrate, or start Florin` };
};

/** What was given up. Its content is encrypted and stays so. */
const examineOutbox = async (db: Database): Promise<Omit<Finding, 'check'>> => {
  const parked = await countParkedOutgoing(db);
  if (parked.length === 0) return { ok: true, detail: 'nothing was given up' };
  const counts = parked.map(({ kind, total, latest }) => `${total} × ${kind}, the latest at ${latest.toISOString()}`);
  return { ok: false, detail: `given up in the last 30 days: ${counts.join('; ')}. The log has the reasons` };
};

/** Runs all checks. A check that depends on a failed one is skipped. */
const examine = async (options: DoctorOptions): Promise<Finding[]> => {
  const findings: Finding[] = [];
  const check = async <T>(name: string, work: () => Promise<T>, tell: (value: T) => Omit<Finding, 'check'>) => {
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
    } catch {
      await storage.stop();
      throw new FlorinError('service_unavailable', 'The database does not answer.');
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
    await check(
      'audit log',
      () => examineAuditLogs(config, admin),
      told => verified(told, 'rows'),
    );
    await check(
      'wallets',
      () => examineWallets(admin),
      told => verified(told, 'wallets'),
    );
    await check(
      'ledger',
      () => examineLedger(storage.db, options.deep ?? false),
      told => told,
    );
    await check(
      'outbox',
      () => examineOutbox(storage.db),
      told => told,
    );
    return findings;
  } finally {
    await storage.stop();
  }
};

export const addDoctorCommand = (program: Command): void => {
  common(
    program
      .command('doctor')
      .description(
        'Check the database, its schema, the master key, the audit log, the wallets, the ledger and the outbox.',
      ),
  )
    .option('--deep', 'Also compare the whole ledger with the transfers that it is derived from.')
    .action(async (options: DoctorOptions) => {
      const findings = await examine(options);
      const isWell = findings.every(finding => finding.ok);
      const lines = findings.map(({ check, ok, detail }) => `${ok ? 'ok      ' : 'PROBLEM '} ${check}: ${detail}`);
      console.log(options.json ? JSON.stringify({ ok: isWell, findings }) : lines.join('\n'));
      if (!isWell) process.exitCode = 1;
    });
};
