import { resolve } from 'node:path';
import type { Environment } from '../core/environment.ts';
import type { MailSettings } from '../mail/mailer.ts';
import { readSender, readSmtpServer } from '../mail/smtpServer.ts';
import { isLoopbackHost } from '../webhooks/guard.ts';
import { type ConfiguredNetworks, loadConfigFile } from './configFile.ts';
import {
  type Bad,
  checkMasterKey,
  databaseProblem,
  listOf,
  parseAlertUrl,
  parseCheckoutUrl,
  parseConnections,
  parseDatabaseUrl,
  parseDays,
  parseHosts,
  parseOrigin,
  parsePort,
  parseProxies,
} from './parseSettings.ts';

export const roles = ['api', 'watch', 'deliver'] as const;
export type Role = (typeof roles)[number];

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

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
  /** Null means the embedded server. */
  readonly database: { readonly url: string; readonly migrateUrl: string } | null;
  /** The setting, checked for its format; null means the file in the data directory. */
  readonly masterKey: string | null;
  /** Encrypts what `florin export recovery` writes; null means that the command asks. */
  readonly recoveryPassphrase: string | null;
  readonly roles: readonly Role[];
  /** How long successful deliveries are kept. */
  readonly deliveryLogDays: number;
  /** Security events of every account are sent here; null if nowhere. A secret: such addresses often contain a token. */
  readonly alertUrl: string | null;
  /** Contains a password; null if no mail is sent. */
  readonly mail: MailSettings | null;
  /** Absolute paths; null means the local CA. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  readonly logLevel: LogLevel;
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

const parseRoles = (text: string, bad: Bad): Role[] | undefined => {
  if (text === 'all') return [...roles];
  const named = listOf(text);
  const known = roles.filter(role => named.includes(role));
  const isList = known.length > 0 && known.length === named.length;
  return isList ? known : bad(`must be all, or a list of ${roles.join(', ')}`);
};

type Setting<T> = {
  /** In commander's syntax; absent if only the environment variable exists. */
  readonly flag?: string;
  readonly variable: string;
  readonly fallback: string | null;
  readonly help: string;
  readonly parse: (text: string, bad: Bad) => T | undefined;
};

const setting = <T>(row: Setting<T>): Setting<T> => row;

/** Defaults, help texts, validation and docs/configuration.md all come from this table. */
export const settings = {
  dataDir: setting({
    flag: '--data-dir <dir>',
    variable: 'FLORIN_DATA_DIR',
    fallback: './data',
    help: 'Directory for all data that must survive a restart.',
    parse: text => text,
  }),
  host: setting({
    flag: '--host <addresses>',
    variable: 'FLORIN_HOST',
    fallback: '127.0.0.1,::1',
    help: 'Addresses to listen on, separated by commas. Anything but loopback needs both public URLs and TLS.',
    parse: parseHosts,
  }),
  port: setting({
    flag: '--port <port>',
    variable: 'FLORIN_PORT',
    fallback: '8443',
    help: 'Port of the production environment; 0 picks a free one.',
    parse: parsePort,
  }),
  sandboxPort: setting({
    flag: '--sandbox-port <port>',
    variable: 'FLORIN_SANDBOX_PORT',
    fallback: '8444',
    help: 'Port of the sandbox; 0 picks a free one. Equal ports need public URLs with distinct hosts.',
    parse: parsePort,
  }),
  publicUrl: setting({
    variable: 'FLORIN_PUBLIC_URL',
    fallback: null,
    help: 'Address at which clients reach production. Default: https://localhost and its port.',
    parse: parseOrigin,
  }),
  sandboxPublicUrl: setting({
    variable: 'FLORIN_SANDBOX_PUBLIC_URL',
    fallback: null,
    help: 'Address at which clients reach the sandbox. Default: https://localhost and its port.',
    parse: parseOrigin,
  }),
  checkoutUrl: setting({
    variable: 'FLORIN_CHECKOUT_URL',
    fallback: null,
    help: "Address of the checkout pages. Default: each environment's own address and /checkout.",
    parse: parseCheckoutUrl,
  }),
  dashboardUrl: setting({
    flag: '--dashboard-url <url>',
    variable: 'FLORIN_DASHBOARD_URL',
    fallback: null,
    help: 'Separate address for the dashboard, which then serves nothing else. Default: the address of production.',
    parse: parseOrigin,
  }),
  dashboardPort: setting({
    flag: '--dashboard-port <port>',
    variable: 'FLORIN_DASHBOARD_PORT',
    fallback: null,
    help: 'Separate port for the dashboard; 0 picks a free one.',
    parse: parsePort,
  }),
  dashboardAccounts: setting({
    variable: 'FLORIN_DASHBOARD_ACCOUNTS',
    fallback: 'off',
    help: 'Whether people who are signed in may create further accounts: on or off.',
    parse: (text, bad) => (['on', 'off'] as const).find(value => value === text) ?? bad('must be on or off'),
  }),
  trustedProxies: setting({
    variable: 'FLORIN_TRUSTED_PROXIES',
    fallback: null,
    help: 'Addresses or CIDR blocks, separated by commas, whose X-Forwarded headers count.',
    parse: parseProxies,
  }),
  connectionsPerAddress: setting({
    variable: 'FLORIN_CONNECTIONS_PER_ADDRESS',
    fallback: '256',
    help: 'Open connections that one client address may have. Those of trusted proxies are not limited.',
    parse: parseConnections,
  }),
  databaseUrl: setting({
    variable: 'DATABASE_URL',
    fallback: null,
    help: 'PostgreSQL 15 or later, for the service. Default: an embedded server in the data directory.',
    parse: parseDatabaseUrl,
  }),
  migrateDatabaseUrl: setting({
    variable: 'FLORIN_MIGRATE_DATABASE_URL',
    fallback: null,
    help: 'The same database as a role that may change the schema. Default: DATABASE_URL.',
    parse: parseDatabaseUrl,
  }),
  databaseTls: setting({
    variable: 'FLORIN_DATABASE_TLS',
    fallback: 'required',
    help: 'Whether a database beyond loopback needs TLS: required, or optional if the network is encrypted otherwise.',
    parse: (text, bad) =>
      (['required', 'optional'] as const).find(value => value === text) ?? bad('must be required or optional'),
  }),
  masterKey: setting({
    variable: 'FLORIN_MASTER_KEY',
    fallback: null,
    help: 'At least 32 random bytes, as hexadecimal digits or as base64. Default: created once, in the data directory.',
    parse: checkMasterKey,
  }),
  recoveryPassphrase: setting({
    variable: 'FLORIN_RECOVERY_PASSPHRASE',
    fallback: null,
    help: 'Passphrase for florin export recovery. Default: the command asks, or reads the first line of its input.',
    parse: text => text,
  }),
  roles: setting({
    variable: 'FLORIN_ROLES',
    fallback: 'all',
    help: 'What this process does: all, or some of api, watch and deliver, separated by commas.',
    parse: parseRoles,
  }),
  deliveryLogDays: setting({
    variable: 'FLORIN_DELIVERY_LOG_DAYS',
    fallback: '30',
    help: 'Days to keep successful webhook deliveries and their attempts. All others are kept forever.',
    parse: parseDays,
  }),
  alertUrl: setting({
    variable: 'FLORIN_ALERT_URL',
    fallback: null,
    help: 'Address that is told of security events of every account. Set it for every process with the role deliver.',
    parse: parseAlertUrl,
  }),
  smtpUrl: setting({
    variable: 'FLORIN_SMTP_URL',
    fallback: null,
    help: 'Mail server: smtps://user:password@host, or smtp:// with STARTTLS. Default: no mail is sent.',
    parse: (text, bad) => {
      const server = readSmtpServer(text);
      return typeof server === 'string' ? bad(server) : server;
    },
  }),
  mailFrom: setting({
    variable: 'FLORIN_MAIL_FROM',
    fallback: null,
    help: 'Sender of mails: an address, or a name and an address in angle brackets.',
    parse: (text, bad) => readSender(text) ?? bad('must be an e-mail address, or Name <address>'),
  }),
  redisUrl: setting<never>({
    variable: 'REDIS_URL',
    fallback: null,
    help: 'Not supported yet. Florin does not start if it is set.',
    parse: (_, bad) => bad('is not supported yet: rate limits are kept in each process; unset it to start'),
  }),
  tlsCert: setting({
    variable: 'FLORIN_TLS_CERT',
    fallback: null,
    help: 'PEM file with the certificate chain. Default: a certificate of the local CA, for localhost only.',
    parse: text => text,
  }),
  tlsKey: setting({
    variable: 'FLORIN_TLS_KEY',
    fallback: null,
    help: 'PEM file with its private key.',
    parse: text => text,
  }),
  logLevel: setting({
    variable: 'FLORIN_LOG_LEVEL',
    fallback: 'info',
    help: 'How much is logged: debug, info, warn, error or silent.',
    parse: (text, bad) => logLevels.find(level => level === text) ?? bad(`must be one of ${logLevels.join(', ')}`),
  }),
};

type SettingName = keyof typeof settings;
type Value<N extends SettingName> = NonNullable<ReturnType<(typeof settings)[N]['parse']>>;
type Values = { readonly [N in SettingName]: Value<N> | null };

type FlagName = 'dataDir' | 'host' | 'port' | 'sandboxPort' | 'dashboardUrl' | 'dashboardPort';
/** Flags override the environment. Commander derives these names from the flags of the table. */
export type Flags = { readonly [N in FlagName]?: string | undefined };
type Variables = Readonly<Record<string, string | undefined>>;
type Source = { readonly flags?: Flags; readonly env?: Variables; readonly cwd?: string };

/** Reads flags, environment and florin.config.*. Throws a ConfigError that lists every problem. */
export const loadConfig = async ({
  flags = {},
  env = process.env,
  cwd = process.cwd(),
}: Source = {}): Promise<Config> => {
  const problems = unknownVariables(env);
  const values = readSettings(flags, env, problems);
  const file = await loadConfigFile(cwd);
  problems.push(...file.problems, ...contradictions(values, isSet(flags, env)));
  if (problems.length > 0) throw new ConfigError(problems);
  const path = (text: string): string => resolve(cwd, text);
  const { dataDir, host, port, sandboxPort, publicUrl, sandboxPublicUrl, databaseUrl, tlsCert, tlsKey } = values;
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
    database: databaseUrl === null ? null : { url: databaseUrl, migrateUrl: values.migrateDatabaseUrl ?? databaseUrl },
    masterKey: values.masterKey,
    recoveryPassphrase: values.recoveryPassphrase,
    roles: values.roles!,
    deliveryLogDays: values.deliveryLogDays!,
    alertUrl: values.alertUrl,
    mail: values.smtpUrl && values.mailFrom && { server: values.smtpUrl, from: values.mailFrom },
    tls: tlsCert && tlsKey ? { certFile: path(tlsCert), keyFile: path(tlsKey) } : null,
    logLevel: values.logLevel!,
    allowLoopbackWebhooks: isAllLoopback(publicUrl, sandboxPublicUrl, values.checkoutUrl, values.dashboardUrl),
    networks: file.networks,
  });
};

const unknownVariables = (env: Variables): string[] => {
  const known = new Set(Object.values(settings).map(each => each.variable));
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

/** Checks the settings against each other. A value that failed to parse is null here but counts as set. */
const contradictions = (values: Values, set: (name: SettingName) => boolean): string[] => {
  const { host, port, sandboxPort, publicUrl, sandboxPublicUrl } = values;
  const problems: string[] = [];
  const check = (wrong: boolean, problem: string): void => void (wrong && problems.push(problem));

  check(
    set('migrateDatabaseUrl') && !set('databaseUrl'),
    'FLORIN_MIGRATE_DATABASE_URL needs DATABASE_URL: the embedded server has its own roles',
  );
  for (const name of ['databaseUrl', 'migrateDatabaseUrl'] as const) {
    const url = values[name];
    const problem = url && values.databaseTls === 'required' ? databaseProblem(settings[name].variable, url) : null;
    if (problem !== null) problems.push(problem);
  }
  check(set('tlsCert') && !set('tlsKey'), 'FLORIN_TLS_CERT needs FLORIN_TLS_KEY');
  check(set('smtpUrl') !== set('mailFrom'), 'FLORIN_SMTP_URL and FLORIN_MAIL_FROM need each other');
  check(set('tlsKey') && !set('tlsCert'), 'FLORIN_TLS_KEY needs FLORIN_TLS_CERT');

  const sharedPort = port !== null && port !== 0 && port === sandboxPort;
  const hostOf = (url: string | null): string | null => url && new URL(url).hostname;
  const distinctHosts = set('publicUrl') && set('sandboxPublicUrl') && hostOf(publicUrl) !== hostOf(sandboxPublicUrl);
  check(
    sharedPort && !distinctHosts,
    'Production and sandbox share a port, so FLORIN_PUBLIC_URL and FLORIN_SANDBOX_PUBLIC_URL must name distinct hosts',
  );
  check(
    publicUrl !== null && publicUrl === sandboxPublicUrl,
    'FLORIN_PUBLIC_URL and FLORIN_SANDBOX_PUBLIC_URL must not be the same address',
  );

  const { dashboardUrl, dashboardPort } = values;
  check(
    dashboardUrl !== null && [publicUrl, sandboxPublicUrl].includes(dashboardUrl),
    'FLORIN_DASHBOARD_URL must differ from the other public URLs; unset it to serve the dashboard with production',
  );
  check(
    dashboardPort !== null && dashboardPort !== 0 && [port, sandboxPort].includes(dashboardPort),
    'FLORIN_DASHBOARD_PORT must differ from the other ports; unset it to share a port by Host header',
  );

  const does = (role: Role): boolean => values.roles?.includes(role) ?? false;
  check(
    does('deliver') && !does('api') && !(set('publicUrl') && set('sandboxPublicUrl')),
    'FLORIN_PUBLIC_URL and FLORIN_SANDBOX_PUBLIC_URL are required with the role deliver and without api: they decide whether to call loopback',
  );
  const wide = host?.some(address => !isLoopbackHost(address)) ?? false;
  for (const name of ['publicUrl', 'sandboxPublicUrl'] as const) {
    check(wide && !set(name), `${settings[name].variable} is required if Florin listens on more than loopback`);
  }
  check(
    wide && set('dashboardPort') && !set('dashboardUrl'),
    'FLORIN_DASHBOARD_URL is required if the dashboard has its own port on more than loopback',
  );
  const exposed = wide || !isAllLoopback(publicUrl, sandboxPublicUrl, dashboardUrl);
  // Behind a trusted proxy, the proxy has the public certificate.
  check(
    exposed && !set('tlsCert') && !set('tlsKey') && !set('trustedProxies'),
    'FLORIN_TLS_CERT and FLORIN_TLS_KEY are required beyond loopback, or FLORIN_TRUSTED_PROXIES if a proxy terminates TLS',
  );
  return problems;
};

/** Null is the default, which is loopback. */
const isAllLoopback = (...urls: (string | null)[]): boolean =>
  urls.every(url => url === null || isLoopbackHost(new URL(url).hostname));

const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
};
