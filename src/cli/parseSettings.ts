import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { readAddressBlock } from '../core/addressBlock.ts';
import { codeOf } from '../core/errorCode.ts';
import { connectionSafety } from '../storage/connectionSafety.ts';
import { problemOfHosts, urlsOfHosts } from '../storage/hosts.ts';
import { isRecipient } from '../vault/ageFile.ts';
import { parseMasterKey } from '../vault/masterKey.ts';

/** Records why a value is invalid. */
export type Bad = (why: string) => undefined;

export const listOf = (text: string): string[] => [...new Set(text.split(',').map(each => each.trim()))];

export const roles = ['api', 'watch', 'deliver'] as const;
export type Role = (typeof roles)[number];

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export const parseRoles = (text: string, bad: Bad): Role[] | undefined => {
  if (text === 'all') return [...roles];
  const named = listOf(text);
  const known = roles.filter(role => named.includes(role));
  const isList = known.length > 0 && known.length === named.length;
  return isList ? known : bad(`must be all, or a list of ${roles.join(', ')}`);
};

export const parsePort = (text: string, bad: Bad): number | undefined => {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65535 ? port : bad('must be a port from 0 to 65535');
};

export const parseNumber =
  (least: number, most: number, what = 'number') =>
  (text: string, bad: Bad): number | undefined => {
    const number = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
    return number >= least && number <= most ? number : bad(`must be a ${what} from ${least} to ${most}`);
  };

const mostProcesses = 64;

/** One core is for watching, delivering and the database. */
export const parseProcesses = (text: string, bad: Bad): number | undefined => {
  if (text === 'auto') return Math.min(mostProcesses, Math.max(1, availableParallelism() - 1));
  return parseNumber(1, mostProcesses)(text, why => bad(`${why}, or auto`));
};

export const parseRecipients = (text: string, bad: Bad): string[] | undefined => {
  const recipients = listOf(text);
  return recipients.every(isRecipient) ? recipients : bad('must list public keys of age, which begin with age1');
};

export const parseHosts = (text: string, bad: Bad): string[] | undefined => {
  const hosts = listOf(text).flatMap(host => (host === 'localhost' ? ['127.0.0.1', '::1'] : [host]));
  return hosts.every(host => isIP(host) !== 0) ? [...new Set(hosts)] : bad('must list IP addresses or localhost');
};

const parseHttpsUrl = (text: string, bad: Bad): URL | undefined => {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:') return bad('must be an absolute https: URL');
  if (url.username || url.password || url.search || url.hash) return bad('must not contain credentials, ? or #');
  return url;
};

export const parseOrigin = (text: string, bad: Bad): string | undefined => {
  const url = parseHttpsUrl(text, bad);
  return url && (url.pathname === '/' ? url.origin : bad('must not have a path'));
};

export const parseCheckoutUrl = (text: string, bad: Bad): string | undefined =>
  parseHttpsUrl(text, bad)?.href.replace(/\/+$/, '');

/** The operator names it, so it may be private, and plain HTTP. */
export const parseAlertUrl = (text: string, bad: Bad): string | undefined => {
  const url = URL.parse(text);
  if (url === null || !['https:', 'http:'].includes(url.protocol))
    return bad('must be an absolute https: or http: URL');
  if (url.username || url.password || url.hash) return bad('must not contain credentials or #');
  return url.href;
};

export const parseProxies = (text: string, bad: Bad): string[] | undefined => {
  const blocks = listOf(text);
  const isNarrow = (block: string): boolean => (readAddressBlock(block)?.prefixBits ?? 0) > 0;
  return blocks.every(isNarrow) ? blocks : bad('must list IP addresses or CIDR blocks (/0 trusts everybody)');
};

export const parseDatabaseUrl = (text: string, bad: Bad): string | undefined => {
  const problem = problemOfHosts(text);
  return problem === null ? text : bad(problem);
};

/** Any server that answers is asked what it is, so the URL need not say it. */
export const parseReadDatabaseUrl = (text: string, bad: Bad): string | undefined =>
  URL.parse(urlsOfHosts(text)[0]!)?.searchParams.has('target_session_attrs')
    ? bad('must not have target_session_attrs: any server that answers is used if it has everything')
    : parseDatabaseUrl(text, bad);

/** Why the service must not send its password there; null if it may. */
export const databaseProblem = (variable: string, url: string): string | null => {
  const remedy =
    'Add sslmode=verify-full to the URL, and sslrootcert=FILE if the certificate is of your own authority. Set FLORIN_DATABASE_TLS=optional if the network is encrypted otherwise';
  try {
    const safety = connectionSafety(url);
    if (safety === 'local' || safety === 'verified') return null;
    const why = safety === 'plain' ? 'does not require TLS' : 'accepts any certificate';
    return `${variable} names a host beyond loopback and ${why}. ${remedy}`;
  } catch (error) {
    // The message may quote the URL.
    return `${variable} cannot be used (${codeOf(error) || 'its parameters are not valid'}). Check sslmode and the files that it names`;
  }
};

export const checkMasterKey = (text: string, bad: Bad): string | undefined => {
  try {
    parseMasterKey(text);
    return text;
  } catch {
    return bad('must be at least 32 bytes as hexadecimal digits or as base64');
  }
};

/** What `read` makes of a text; it answers with a string what is wrong. */
export const parseServer =
  <T extends object>(read: (text: string) => T | string) =>
  (text: string, bad: Bad): T | undefined => {
    const server = read(text);
    return typeof server === 'string' ? bad(server) : server;
  };
