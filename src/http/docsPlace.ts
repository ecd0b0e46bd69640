import type { Environment } from '../core/environment.ts';
import { isLoopbackName } from '../core/url.ts';

/** Whose reference it is, and where both environments are reached. */
export type DocsPlace = { environment: Environment; urls: Readonly<Record<Environment, string>> };

export const keyPrefix: Readonly<Record<Environment, string>> = { production: 'sk_live_', sandbox: 'sk_test_' };

export const baseUrl = ({ environment, urls }: DocsPlace): string => urls[environment].replace(/\/+$/, '');

/** Certificates that Florin signed itself are served at loopback addresses only. */
export const hasOwnAuthority = (place: DocsPlace): boolean => {
  const url = URL.parse(baseUrl(place));
  return url !== null && isLoopbackName(url.hostname);
};

export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The words that begin every command, and the address that it calls. */
export const curlLines = (place: DocsPlace, options: string, target: string): string[] => {
  const url = `${baseUrl(place)}${target}`;
  const authority = hasOwnAuthority(place) ? ' --cacert "$FLORIN_CA"' : '';
  return [`curl${options}${authority}`, /^[\w:/.-]+$/.test(url) ? url : shellQuoted(url)];
};

export const commandOf = (lines: readonly string[]): string => lines.join(' \\\n  ');
