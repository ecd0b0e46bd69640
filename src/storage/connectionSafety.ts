import { isIP } from 'node:net';
import pg from 'pg';

/** How a connection of this URL is protected, as pg itself reads it: `local` never leaves this machine. */
export type ConnectionSafety = 'local' | 'verified' | 'unverified' | 'plain';

/** Modes that name TLS. `prefer` does not: pg's next version falls back to no TLS. */
const tlsModes: ReadonlySet<string> = new Set(['require', 'verify-ca', 'verify-full']);

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** Names below localhost are asked of the resolver, which may answer anything. A host that begins with / is a socket. */
const isLocal = (host: string): boolean => {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  return host.startsWith('/') || (loopback.test(bare) && (bare.toLowerCase() === 'localhost' || isIP(bare) !== 0));
};

/**
 * Throws if pg cannot read the URL or the files that it names. pg decides what it does, so pg is asked: parameters of the
 * URL and variables of the environment override each other in ways that must not be guessed here. For a hint that is
 * right, the URL must also name a mode of TLS, and every host that it names counts.
 */
export const connectionSafety = (connectionString: string): ConnectionSafety => {
  const client = new pg.Client({ connectionString });
  const { hostname, searchParams } = new URL(connectionString);
  const hosts = [client.host, decodeURIComponent(hostname), ...searchParams.getAll('host')];
  if (hosts.filter(host => host !== '').every(isLocal)) return 'local';
  const modes = searchParams.getAll('sslmode');
  // The type says boolean. With options, pg has an object.
  const ssl = client.ssl as boolean | { readonly rejectUnauthorized?: boolean };
  if (!ssl || modes.length === 0) return 'plain';
  const isVerified = ssl === true || ssl.rejectUnauthorized !== false;
  if (!isVerified) return 'unverified';
  return modes.every(mode => tlsModes.has(mode)) ? 'verified' : 'plain';
};
