import type { Environment } from '../../core/environment.ts';
import { isLoopbackName } from '../../core/url.ts';

/** The environment of the reference, and the URLs of both environments. */
export type DocsPlace = { environment: Environment; urls: Readonly<Record<Environment, string>> };

export const keyPrefix: Readonly<Record<Environment, string>> = { production: 'sk_live_', sandbox: 'sk_test_' };

export const baseUrl = ({ environment, urls }: DocsPlace): string => urls[environment].replace(/\/+$/, '');

/** Florin uses its own certificate authority only at loopback addresses. */
export const hasOwnAuthority = (place: DocsPlace): boolean => {
  const url = URL.parse(baseUrl(place));
  return url !== null && isLoopbackName(url.hostname);
};

export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The first two lines of every example: curl with its options, and the URL. */
export const curlLines = (place: DocsPlace, options: string, target: string): string[] => {
  const url = `${baseUrl(place)}${target}`;
  const authority = hasOwnAuthority(place) ? ' --cacert "$FLORIN_CA"' : '';
  return [`curl${options}${authority}`, /^[\w:/.-]+$/.test(url) ? url : shellQuoted(url)];
};

export const commandOf = (lines: readonly string[]): string => lines.join(' \\\n  ');
