import { totalmem } from 'node:os';
import { port } from './socketDirectory.ts';

export type ServerSettings = Readonly<Record<string, string>>;

const gibibyte = 1024 ** 3;

/** Defaults for a small machine. Each may be overridden. */
const tuning = (): ServerSettings => {
  const roomy = totalmem() >= 4 * gibibyte;
  return {
    max_connections: '100',
    shared_buffers: roomy ? '256MB' : '128MB',
    effective_cache_size: roomy ? '1GB' : '512MB',
    max_wal_size: '2GB',
    checkpoint_timeout: '15min',
    wal_compression: 'on',
    // The default would log the values of rows that violate a constraint.
    log_error_verbosity: 'terse',
  };
};

/** Florin's guarantees rest on these: commits are on disk before they are acknowledged, and nobody else can connect. */
const fixed = (socketDirectory: string): ServerSettings => ({
  listen_addresses: '',
  // The setting is a list; the quotes allow a comma in the path.
  unix_socket_directories: `"${socketDirectory.replaceAll('"', '""')}"`,
  unix_socket_permissions: '0700',
  port: String(port),
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  password_encryption: 'scram-sha-256',
  restart_after_crash: 'on',
  // The supervisor keeps the log file small; a collector would be one more process that can fail.
  logging_collector: 'off',
  log_destination: 'stderr',
  timezone: 'UTC',
  log_timezone: 'UTC',
});

export const serverArguments = (socketDirectory: string, settings: ServerSettings): string[] => {
  const locked = fixed(socketDirectory);
  for (const name of Object.keys(settings)) {
    if (name in locked) throw new Error(`The setting ${name} of the embedded PostgreSQL cannot be changed.`);
  }
  return Object.entries({ ...tuning(), ...settings, ...locked }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
};
