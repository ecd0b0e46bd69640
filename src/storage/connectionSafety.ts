import { isIP } from 'node:net';
import pg from 'pg';
import { urlsOfHosts } from './hosts.ts';

/** How a connection is protected. `local` never leaves this machine; `unverified` is TLS with anybody's certificate. */
export type ConnectionSafety = 'local' | 'verified' | 'unverified' | 'plain';

/** Modes that are TLS in pg and will be in its next version. Others are TLS by accident, for example `prefer`. */
const tlsModes: ReadonlySet<string> = new Set(['require', 'verify-ca', 'verify-full']);

/** A host that begins with / is a socket. Names below localhost do not count: a resolver may know others. */
const isLocal = (host: string): boolean => {
  const bare = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return host.startsWith('/') || bare === 'localhost' || (isIP(bare) !== 0 && /^(?:127\.|::1$)/.test(bare));
};

/**
 * Asks pg what it will do with a URL: its parameters and the variables of the environment override each other, and pg
 * differs from libpq, so reading the URL again here would be a guess. The mode must be in the URL all the same, where the
 * operator sees it, and each host that the URL names must be local to count as local. Throws if pg cannot read the URL or
 * a file that it names.
 */
const safetyOfHost = (connectionString: string): ConnectionSafety => {
  const client = new pg.Client({ connectionString });
  const { hostname, searchParams } = new URL(connectionString);
  const hosts = [client.host, decodeURIComponent(hostname), ...searchParams.getAll('host')];
  if (hosts.filter(host => host !== '').every(isLocal)) return 'local';
  const modes = searchParams.getAll('sslmode');
  // Its type is wrong: with a mode, pg keeps the options of TLS here.
  const ssl = client.ssl as boolean | { readonly rejectUnauthorized?: boolean };
  if (ssl === false || modes.length === 0) return 'plain';
  if (ssl !== true && ssl.rejectUnauthorized === false) return 'unverified';
  return modes.every(mode => tlsModes.has(mode)) ? 'verified' : 'plain';
};

const fromWorst: readonly ConnectionSafety[] = ['plain', 'unverified', 'verified', 'local'];

/** That of the host with the least of it. */
export const connectionSafety = (connectionString: string): ConnectionSafety => {
  const safeties = urlsOfHosts(connectionString).map(safetyOfHost);
  return fromWorst.find(safety => safeties.includes(safety))!;
};
