import { isLoopbackHost } from '../webhooks/guard.ts';
import { databaseProblem, type Role } from './parseSettings.ts';
import { type SettingName, settings, type Values } from './settings.ts';

/** Settings that need another one. */
const pairs: readonly (readonly [SettingName, SettingName])[] = [
  ['backupDir', 'backupRecipient'],
  ['tlsCert', 'tlsKey'],
  ['tlsKey', 'tlsCert'],
  ['metricsHost', 'metricsPort'],
];

/** What others can reach needs addresses and certificates of its own. */
const exposureProblems = (values: Values, set: (name: SettingName) => boolean): string[] => {
  const { host, publicUrl, sandboxPublicUrl, dashboardUrl } = values;
  const problems: string[] = [];
  const check = (wrong: boolean, problem: string): void => void (wrong && problems.push(problem));
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

/** What keeps the data, and what counts requests. */
const storeProblems = (values: Values, set: (name: SettingName) => boolean): string[] => {
  const problems: string[] = [];
  const check = (wrong: boolean, problem: string): void => void (wrong && problems.push(problem));
  check(
    set('migrateDatabaseUrl') && !set('databaseUrl'),
    'FLORIN_MIGRATE_DATABASE_URL needs DATABASE_URL: the embedded server has its own roles',
  );
  check(
    set('readDatabaseUrl') && !set('databaseUrl'),
    'FLORIN_READ_DATABASE_URL needs DATABASE_URL: the embedded server has no standby',
  );
  for (const name of ['databaseUrl', 'migrateDatabaseUrl', 'readDatabaseUrl'] as const) {
    const url = values[name];
    const problem = url && values.databaseTls === 'required' ? databaseProblem(settings[name].variable, url) : null;
    if (problem !== null) problems.push(problem);
  }
  const { redisUrl } = values;
  check(
    redisUrl !== null &&
      values.databaseTls === 'required' &&
      !redisUrl.isEncrypted &&
      // A sentinel names another host only when it is asked.
      (redisUrl.sentinel !== null || !redisUrl.hosts.every(({ host }) => isLoopbackHost(host))),
    'REDIS_URL may lead beyond loopback without TLS. Begin it with rediss:, or set FLORIN_DATABASE_TLS=optional if the network is encrypted otherwise',
  );
  check(
    set('backupDir') && set('databaseUrl'),
    'FLORIN_BACKUP_DIR is for the embedded database: back up the server of DATABASE_URL by its own means, and unset it',
  );
  return problems;
};

/** Checks the settings against each other. A value that failed to parse is null here but counts as set. */
export const contradictions = (values: Values, set: (name: SettingName) => boolean): string[] => {
  const { port, sandboxPort, publicUrl, sandboxPublicUrl } = values;
  const problems = storeProblems(values, set);
  const check = (wrong: boolean, problem: string): void => void (wrong && problems.push(problem));

  for (const [name, other] of pairs) {
    check(set(name) && !set(other), `${settings[name].variable} needs ${settings[other].variable}`);
  }
  check(set('smtpUrl') !== set('mailFrom'), 'FLORIN_SMTP_URL and FLORIN_MAIL_FROM need each other');

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

  const { metricsPort } = values;
  check(
    metricsPort !== null && metricsPort !== 0 && [port, sandboxPort, dashboardPort].includes(metricsPort),
    'FLORIN_METRICS_PORT must differ from the other ports',
  );

  const does = (role: Role): boolean => values.roles?.includes(role) ?? false;
  check(
    does('deliver') && !does('api') && !(set('publicUrl') && set('sandboxPublicUrl')),
    'FLORIN_PUBLIC_URL and FLORIN_SANDBOX_PUBLIC_URL are required with the role deliver and without api: they decide whether to call loopback',
  );
  check(
    set('processes') && !does('api'),
    'FLORIN_PROCESSES needs the role api in FLORIN_ROLES: it says how many processes serve requests',
  );
  return [...problems, ...exposureProblems(values, set)];
};

/** Null is the default, which is loopback. */
export const isAllLoopback = (...urls: (string | null)[]): boolean =>
  urls.every(url => url === null || isLoopbackHost(new URL(url).hostname));
