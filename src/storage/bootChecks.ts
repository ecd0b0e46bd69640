import type { Database } from './database.ts';

const settings = {
  name: 'boot-settings',
  text: `select current_setting('server_version_num')::int as version, current_setting('fsync') as fsync,
    current_setting('synchronous_commit') as synchronous_commit, current_setting('full_page_writes') as full_page_writes,
    pg_is_in_recovery() as recovering`,
};

const oldestVersion = 150_000;

/** Checks that the server cannot lose acknowledged payments. Returns every problem found, each with its remedy. */
export const checkServer = async (database: Database): Promise<string[]> => {
  const [row] = await database.query<{
    version: number;
    fsync: string;
    synchronous_commit: string;
    full_page_writes: string;
    recovering: boolean;
  }>(settings);
  const problems: string[] = [];
  if (row!.version < oldestVersion) problems.push('PostgreSQL 15 or newer is needed: upgrade the server');
  if (row!.fsync !== 'on') problems.push('fsync is off: a crash would lose payments; set fsync = on');
  if (row!.synchronous_commit === 'off') {
    problems.push('synchronous_commit is off: acknowledged payments could be lost; set it to on for this role');
  }
  if (row!.full_page_writes !== 'on') problems.push('full_page_writes is off: set full_page_writes = on');
  if (row!.recovering) problems.push('the server is a read-only replica: point DATABASE_URL at the primary');
  return problems;
};

const encryption = {
  name: 'boot-encryption',
  text: `select (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as encrypted,
    coalesce(inet_client_addr() <<= '127.0.0.0/8' or inet_client_addr() = '::1', true) as local`,
};

/** Whether others on the network could read the connection. A Unix socket and loopback are on this machine. */
export const isConnectionExposed = async (database: Database): Promise<boolean> => {
  const [row] = await database.query<{ encrypted: boolean; local: boolean }>(encryption);
  return !(row!.encrypted || row!.local);
};
