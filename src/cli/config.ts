import { resolve } from 'node:path';
import type { Environment } from '../core/environment.ts';
import type { RedisServer } from '../limits/redisUrl.ts';
import type { MailSettings } from '../mail/mailer.ts';
import type { Retention } from '../workers/purger.ts';
import { type ConfiguredNetworks, loadConfigFile } from './configFile.ts';
import { contradictions, isAllLoopback } from './contradictions.ts';
import type { Bad, LogLevel, Role } from './parseSettings.ts';
import { fileVariableOf, readSecretFiles, secretVariables } from './secretFiles.ts';
import type { Setting } from './setting.ts';
import { type SettingName, settings, type Values } from './settings.ts';

/** An absolute path; `files` are kept beside the one that is written. */
export type LogFile = {
  readonly path: string;
  readonly maxBytes: number;
  readonly files: number;
  readonly days: number;
};

/** The validated and frozen configuration. Contains secrets: never log it. */
export type Config = {
  /** Absolute path. */
  readonly dataDir: string;
  /** Addresses to listen on. */
  readonly hosts: readonly string[];
  /** 0 picks a free port. */
  readonly ports: Readonly<Record<Environment, number>>;
  /** Origins without a trailing slash; null means https://localhost with the bound port. */
  readonly publicUrls: Readonly<Record<Environment, string | null>>;
  /** Without a trailing slash; null means /checkout at the URL of the environment. */
  readonly checkoutUrl: string | null;
  /** A separate origin and port; null if the dashboard has none. */
  readonly dashboard: { readonly url: string | null; readonly port: number | null; readonly mayAddAccounts: boolean };
  /** Addresses or CIDR blocks. */
  readonly trustedProxies: readonly string[];
  /** How many connections one client address may have. Trusted proxies may have any number. */
  readonly connectionsPerAddress: number;
  /** How long a stop serves on while `/readyz` answers 503. */
  readonly drainSeconds: number;
  /** Null means the embedded server. */
  readonly database: {
    readonly url: string;
    readonly migrateUrl: string;
    /** A standby, or null. */
    readonly readUrl: string | null;
  } | null;
  /** Contains a password; null if each process counts rate limits by itself. */
  readonly redis: RedisServer | null;
  /** The setting, checked for its format; null means the file in the data directory. */
  readonly masterKey: string | null;
  /** The key that a rotation goes to; null means the file in the data directory, if there is one. */
  readonly nextMasterKey: string | null;
  /** Encrypts what `florin export recovery` writes; null means that the command asks. */
  readonly recoveryPassphrase: string | null;
  /** Public keys for which backups are encrypted unless the command names others. */
  readonly backupRecipients: readonly string[];
  /** When and where the running server takes backups of its embedded database; null if it takes none. */
  readonly backups: {
    /** An absolute path. */
    readonly directory: string;
    readonly hours: number;
    readonly keep: number;
    readonly recipients: readonly string[];
    /** How often the log of the database is archived; 0 for never. */
    readonly logSeconds: number;
  } | null;
  readonly roles: readonly Role[];
  /** How many processes serve requests, beside those of the other roles; null if one process does everything. */
  readonly processes: number | null;
  /** Null if metrics are not served. */
  readonly metrics: { readonly port: number; readonly hosts: readonly string[] } | null;
  readonly retention: Retention;
  /** Security events of every account are sent here; null if nowhere. A secret: such addresses often contain a token. */
  readonly alertUrl: string | null;
  /** Contains a password; null if no mail is sent. */
  readonly mail: MailSettings | null;
  /** Absolute paths; null means the local CA. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Whether systemd waits to hear that Florin is ready. */
  readonly isAwaited: boolean;
  readonly logLevel: LogLevel;
  /** Null means standard error. */
  readonly logFile: LogFile | null;
  /** True only if all public URLs are loopback: others do not use this deployment. Applies to sandbox events only. */
  readonly allowLoopbackWebhooks: boolean;
  readonly networks: ConfiguredNetworks;
};

/** Lists every problem of the configuration. Never quotes a secret. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map(each => `- ${each}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const bytesPerMib = 1024 * 1024;

type FlagName = 'dataDir' | 'host' | 'port' | 'sandboxPort' | 'dashboardUrl' | 'dashboardPort' | 'metricsPort';
/** Flags override the environment. Commander derives these names from the flags of the table. */
export type Flags = { readonly [N in FlagName]?: string | undefined };
type Variables = Readonly<Record<string, string | undefined>>;
type Source = { readonly flags?: Flags; readonly env?: Variables; readonly cwd?: string };

const databaseOf = ({ databaseUrl: url, migrateDatabaseUrl, readDatabaseUrl }: Values): Config['database'] =>
  url === null ? null : { url, migrateUrl: migrateDatabaseUrl ?? url, readUrl: readDatabaseUrl };

/** Reads flags, environment, the files of secrets and florin.config.*. Throws a ConfigError that lists every problem. */
export const loadConfig = async ({
  flags = {},
  env: given = process.env,
  cwd = process.cwd(),
}: Source = {}): Promise<Config> => {
  const problems = unknownVariables(given);
  const env = await readSecretFiles(given, problems);
  const values = readSettings(flags, env, problems);
  const file = await loadConfigFile(cwd);
  problems.push(...file.problems, ...contradictions(values, isSet(flags, env)));
  if (problems.length > 0) throw new ConfigError(problems);
  const path = (text: string): string => resolve(cwd, text);
  const { dataDir, host, port, sandboxPort, publicUrl, sandboxPublicUrl, tlsCert, tlsKey } = values;
  return deepFreeze({
    dataDir: path(dataDir!),
    hosts: host!,
    ports: { production: port!, sandbox: sandboxPort! },
    publicUrls: { production: publicUrl, sandbox: sandboxPublicUrl },
    checkoutUrl: values.checkoutUrl,
    dashboard: {
      url: values.dashboardUrl,
      port: values.dashboardPort,
      mayAddAccounts: values.dashboardAccounts === 'on',
    },
    trustedProxies: values.trustedProxies ?? [],
    connectionsPerAddress: values.connectionsPerAddress!,
    drainSeconds: values.drainSeconds!,
    database: databaseOf(values),
    redis: values.redisUrl,
    masterKey: values.masterKey,
    nextMasterKey: values.nextMasterKey,
    recoveryPassphrase: values.recoveryPassphrase,
    backupRecipients: values.backupRecipient ?? [],
    backups: values.backupDir
      ? {
          directory: path(values.backupDir),
          hours: values.backupHours!,
          keep: values.backupKeep!,
          recipients: values.backupRecipient!,
          logSeconds: values.backupLogSeconds!,
        }
      : null,
    roles: values.roles!,
    processes: values.processes,
    metrics: values.metricsPort === null ? null : { port: values.metricsPort, hosts: values.metricsHost! },
    retention: {
      deliveryLogDays: values.deliveryLogDays!,
      deliveryBodyDays: values.deliveryBodyDays!,
      idempotencyHours: values.idempotencyHours!,
    },
    alertUrl: values.alertUrl,
    mail: values.smtpUrl && values.mailFrom && { server: values.smtpUrl, from: values.mailFrom },
    tls: tlsCert && tlsKey ? { certFile: path(tlsCert), keyFile: path(tlsKey) } : null,
    isAwaited: Boolean(given.NOTIFY_SOCKET),
    logLevel: values.logLevel!,
    logFile: values.logFile
      ? {
          path: path(values.logFile),
          maxBytes: values.logFileMib! * bytesPerMib,
          files: values.logFiles!,
          days: values.logFileDays!,
        }
      : null,
    allowLoopbackWebhooks: isAllLoopback(publicUrl, sandboxPublicUrl, values.checkoutUrl, values.dashboardUrl),
    networks: file.networks,
  });
};

/** The environment of this process with other variables, for a process that it starts. */
export const environmentWith = (variables: Readonly<Record<string, string>>): Variables => ({
  ...process.env,
  ...variables,
});

const unknownVariables = (env: Variables): string[] => {
  const known = new Set([
    ...Object.values(settings).map(each => each.variable),
    ...secretVariables.map(fileVariableOf),
  ]);
  const unknown = Object.keys(env).filter(name => name.startsWith('FLORIN_') && !known.has(name));
  return unknown.sort().map(name => `${name} is not a setting of Florin`);
};

const isSet = (flags: Flags, env: Variables): ((name: SettingName) => boolean) => {
  // Compose files and shells use an empty variable for "not set".
  return name => flags[name as keyof Flags] !== undefined || Boolean(env[settings[name].variable]);
};

const readSettings = (flags: Flags, env: Variables, problems: string[]): Values => {
  const entries = Object.entries(settings).map(([name, row]) => {
    const { flag, variable, fallback, parse }: Setting<unknown> = row;
    const given = flag === undefined ? undefined : flags[name as keyof Flags];
    const text = given ?? (env[variable] || fallback);
    if (text === null) return [name, null];
    const source = given === undefined ? variable : flag!.split(' ')[0];
    const bad: Bad = why => void problems.push(`${source} ${why}`);
    return [name, (text === '' ? bad('must not be empty') : parse(text, bad)) ?? null];
  });
  return Object.fromEntries(entries) as Values;
};

const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
};
