import { totalmem } from 'node:os';
import { port } from './socketDirectory.ts';

export type ServerSettings = Readonly<Record<string, string>>;

const gibibyte = 1024 ** 3;

/** What suits a small machine; every one of these may be set otherwise. */
function tuning(): ServerSettings {
  const roomy = totalmem() >= 4 * gibibyte;
  return {
    max_connections: '100',
    shared_buffers: roomy ? '256MB' : '128MB',
    effective_cache_size: roomy ? '1GB' : '512MB',
    max_wal_size: '2GB',
    checkpoint_timeout: '15min',
    wal_compression: 'on',
    // Without it the log would repeat the values of rows that break a constraint.
    log_error_verbosity: 'terse',
  };
}

/** What Florin's promises rest on: no commit is acknowledged before it is on disk, nobody connects but this machine. */
function fixed(socketDirectory: string): ServerSettings {
  return {
    listen_addresses: '',
    // The setting is a list; quotes keep a path with a comma in it whole.
    unix_socket_directories: `"${socketDirectory.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port: String(port),
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    password_encryption: 'scram-sha-256',
    restart_after_crash: 'on',
    // The log is a file that the supervisor keeps small; a collector would be one more process to lose.
    logging_collector: 'off',
    log_destination: 'stderr',
    timezone: 'UTC',
    log_timezone: 'UTC',
  };
}

export function serverArguments(socketDirectory: string, settings: ServerSettings): string[] {
  const locked = fixed(socketDirectory);
  for (const name of Object.keys(settings)) {
    if (name in locked) throw new Error(`The setting ${name} of the embedded PostgreSQL cannot be changed.`);
  }
  return Object.entries({ ...tuning(), ...settings, ...locked }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
