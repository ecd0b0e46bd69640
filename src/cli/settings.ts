import { readRedisUrl } from '../limits/redisUrl.ts';
import { readSender, readSmtpServer } from '../mail/smtpServer.ts';
import {
  checkMasterKey,
  logLevels,
  parseAlertUrl,
  parseCheckoutUrl,
  parseDatabaseUrl,
  parseHosts,
  parseNumber,
  parseOrigin,
  parsePort,
  parseProcesses,
  parseProxies,
  parseRecipients,
  parseRoles,
} from './parseSettings.ts';
import { setting } from './setting.ts';

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
    parse: parseNumber(1, 10_000),
  }),
  drainSeconds: setting({
    variable: 'FLORIN_DRAIN_SECONDS',
    fallback: '0',
    help: 'Seconds for which a stop serves on, while /readyz answers 503 and clients go to another process.',
    parse: parseNumber(0, 300, 'number of seconds'),
  }),
  databaseUrl: setting({
    variable: 'DATABASE_URL',
    fallback: null,
    help: 'PostgreSQL 15 or later, for the service; several hosts for one that fails over. Default: an embedded server in the data directory.',
    isSecret: true,
    parse: parseDatabaseUrl,
  }),
  migrateDatabaseUrl: setting({
    variable: 'FLORIN_MIGRATE_DATABASE_URL',
    fallback: null,
    help: 'The same database as a role that may change the schema. Default: DATABASE_URL.',
    isSecret: true,
    parse: parseDatabaseUrl,
  }),
  databaseTls: setting({
    variable: 'FLORIN_DATABASE_TLS',
    fallback: 'required',
    help: 'Whether a database or a Redis beyond loopback needs TLS: required, or optional if the network is encrypted otherwise.',
    parse: (text, bad) =>
      (['required', 'optional'] as const).find(value => value === text) ?? bad('must be required or optional'),
  }),
  masterKey: setting({
    variable: 'FLORIN_MASTER_KEY',
    fallback: null,
    help: 'At least 32 random bytes, as hexadecimal digits or as base64. Default: created once, in the data directory.',
    isSecret: true,
    parse: checkMasterKey,
  }),
  nextMasterKey: setting({
    variable: 'FLORIN_NEXT_MASTER_KEY',
    fallback: null,
    help: 'The key that florin rotate master-key goes to. Default: keys/master.next in the data directory, if there is one.',
    isSecret: true,
    parse: checkMasterKey,
  }),
  recoveryPassphrase: setting({
    variable: 'FLORIN_RECOVERY_PASSPHRASE',
    fallback: null,
    help: 'Passphrase for florin export recovery. Default: the command asks, or reads the first line of its input.',
    isSecret: true,
    parse: text => text,
  }),
  backupDir: setting({
    variable: 'FLORIN_BACKUP_DIR',
    fallback: null,
    help: 'Directory to which the running server takes backups of the embedded database. Default: it takes none.',
    parse: text => text,
  }),
  backupHours: setting({
    variable: 'FLORIN_BACKUP_HOURS',
    fallback: '24',
    help: 'Hours from one of these backups to the next.',
    parse: parseNumber(1, 720, 'number of hours'),
  }),
  backupKeep: setting({
    variable: 'FLORIN_BACKUP_KEEP',
    fallback: '7',
    help: 'How many of these backups are kept. Older ones are removed after each success.',
    parse: parseNumber(1, 1_000),
  }),
  backupRecipient: setting({
    variable: 'FLORIN_BACKUP_RECIPIENT',
    fallback: null,
    help: 'Public keys of age (age1…), separated by commas, for which backups are encrypted. FLORIN_BACKUP_DIR needs it.',
    parse: parseRecipients,
  }),
  backupLogSeconds: setting({
    variable: 'FLORIN_BACKUP_LOG_SECONDS',
    fallback: '60',
    help: 'How often the log of the database is archived beside the backups, in seconds. If the disk is lost, at most the changes of this time are lost. 0 archives no log.',
    parse: parseNumber(0, 3_600, 'number of seconds'),
  }),
  roles: setting({
    variable: 'FLORIN_ROLES',
    fallback: 'all',
    help: 'What this process does: all, or some of api, watch and deliver, separated by commas.',
    parse: parseRoles,
  }),
  processes: setting({
    variable: 'FLORIN_PROCESSES',
    fallback: null,
    help: 'How many processes of this machine serve requests, beside one that watches and one that delivers: 1 to 64, or auto for one less than there are cores. Default: one process does everything.',
    parse: parseProcesses,
  }),
  metricsPort: setting({
    flag: '--metrics-port <port>',
    variable: 'FLORIN_METRICS_PORT',
    fallback: null,
    help: 'Port of the metrics for Prometheus; 0 picks a free one. Default: no metrics are served.',
    parse: parsePort,
  }),
  metricsHost: setting({
    variable: 'FLORIN_METRICS_HOST',
    fallback: '127.0.0.1,::1',
    help: 'Addresses to serve metrics on, separated by commas: in plain HTTP and without a key.',
    parse: parseHosts,
  }),
  deliveryLogDays: setting({
    variable: 'FLORIN_DELIVERY_LOG_DAYS',
    fallback: '30',
    help: 'Days to keep successful webhook deliveries and their attempts. All others are kept forever.',
    parse: parseNumber(1, 3_650, 'number of days'),
  }),
  deliveryBodyDays: setting({
    variable: 'FLORIN_DELIVERY_BODY_DAYS',
    fallback: '30',
    help: 'Days to keep what receivers answered to webhooks. After that, the attempt is kept without the answer.',
    parse: parseNumber(1, 3_650, 'number of days'),
  }),
  idempotencyHours: setting({
    variable: 'FLORIN_IDEMPOTENCY_HOURS',
    fallback: '24',
    help: 'Hours to keep the answers to requests with an Idempotency-Key. The API promises 24.',
    parse: parseNumber(24, 720, 'number of hours'),
  }),
  alertUrl: setting({
    variable: 'FLORIN_ALERT_URL',
    fallback: null,
    help: 'Address that is told of security events of every account. Set it for every process with the role deliver.',
    isSecret: true,
    parse: parseAlertUrl,
  }),
  smtpUrl: setting({
    variable: 'FLORIN_SMTP_URL',
    fallback: null,
    help: 'Mail server: smtps://user:password@host, or smtp:// with STARTTLS. Default: no mail is sent.',
    isSecret: true,
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
  redisUrl: setting({
    variable: 'REDIS_URL',
    fallback: null,
    help: 'Redis or Valkey, in which the API processes of all machines count rate limits together: rediss://user:password@host. Default: each Florin counts by itself.',
    isSecret: true,
    parse: (text, bad) => {
      const server = readRedisUrl(text);
      return typeof server === 'string' ? bad(server) : server;
    },
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
  logFile: setting({
    variable: 'FLORIN_LOG_FILE',
    fallback: null,
    help: 'File for the log. Default: standard error.',
    parse: text => text,
  }),
  logFileMib: setting({
    variable: 'FLORIN_LOG_FILE_MIB',
    fallback: '64',
    help: 'Size in MiB from which a log file is renamed and a new one is begun.',
    parse: parseNumber(1, 4_096),
  }),
  logFiles: setting({
    variable: 'FLORIN_LOG_FILES',
    fallback: '5',
    help: 'How many renamed log files are kept.',
    parse: parseNumber(1, 100),
  }),
  logFileDays: setting({
    variable: 'FLORIN_LOG_FILE_DAYS',
    fallback: '30',
    help: 'Days after which a line of a log file is removed at the latest. Lines contain addresses of clients.',
    parse: parseNumber(1, 3_650, 'number of days'),
  }),
};

export type SettingName = keyof typeof settings;
/** Null: not set and without a default, or not valid. */
export type Values = { readonly [N in SettingName]: NonNullable<ReturnType<(typeof settings)[N]['parse']>> | null };
