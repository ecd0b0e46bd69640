import { access } from 'node:fs/promises';
import type { Command } from 'commander';
import { FlorinError } from '../core/errors.ts';
import { silentLog } from '../core/log.ts';
import type { AdminContext } from '../engine/accounts.ts';
import { type Verified, verifyAuditLogs, verifyWalletHistory, verifyWallets } from '../engine/verifyRecords.ts';
import type { Database } from '../storage/database.ts';
import { countPendingMigrations, MigrationError } from '../storage/migrate.ts';
import { MasterKeyError } from '../vault/masterKey.ts';
import { keepAuditHeads } from './auditHeadsFile.ts';
import { type Common, common } from './commands.ts';
import { openAdmin, openStorage } from './compose.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';

type Finding = { readonly check: string; readonly ok: boolean; readonly detail: string };

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

const checkMigrations = async (db: Database): Promise<Omit<Finding, 'check'>> => {
  const pending = await countPendingMigrations(db);
  return pending === 0
    ? { ok: true, detail: 'up to date' }
    : { ok: false, detail: `${pending} are missing: run florin migrate, or start Florin` };
};

/** Runs all checks. A check that depends on a failed one is skipped. */
const examine = async (options: Common): Promise<Finding[]> => {
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
    const storage = await openStorage(config, silentLog);
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
    return findings;
  } finally {
    await storage.stop();
  }
};

export const addDoctorCommand = (program: Command): void => {
  common(
    program
      .command('doctor')
      .description('Check the database, its schema, the master key, the audit log and the wallets.'),
  ).action(async (options: Common) => {
    const findings = await examine(options);
    const isWell = findings.every(finding => finding.ok);
    const lines = findings.map(({ check, ok, detail }) => `${ok ? 'ok      ' : 'PROBLEM '} ${check}: ${detail}`);
    console.log(options.json ? JSON.stringify({ ok: isWell, findings }) : lines.join('\n'));
    if (!isWell) process.exitCode = 1;
  });
};
