import { type Environment, environments } from '../core/environment.ts';

/** How a Host header may name the address: the default port may be written or left out. */
const hostsOf = (url: string): string[] => {
  const { host, port } = new URL(url);
  return port === '' ? [host, `${host}:443`] : [host];
};

/** Which environment a Host header means, where both share a port; null for a name that is neither's. */
export const createHostEnvironment = (publicUrls: Readonly<Record<Environment, string>>) => {
  const names = new Map<string, Environment>();
  for (const environment of environments) {
    for (const host of hostsOf(publicUrls[environment])) names.set(host, environment);
  }
  return (host: string | undefined): Environment | null => names.get(host?.toLowerCase() ?? '') ?? null;
};

/** An address that is not known yet is nobody's. */
export const isHostOf = (url: string, host: string | undefined): boolean =>
  url !== '' && hostsOf(url).includes(host?.toLowerCase() ?? '');
