import { type Environment, environments } from '../../core/environment.ts';

/** The values of a Host header that match a URL. The default port is optional. */
const hostsOf = (url: string): string[] => {
  const { host, port } = new URL(url);
  return port === '' ? [host, `${host}:443`] : [host];
};

/** Finds the environment by the Host header, for environments that share a port; null if neither matches. */
export const createHostEnvironment = (publicUrls: Readonly<Record<Environment, string>>) => {
  const names = new Map<string, Environment>();
  for (const environment of environments) {
    for (const host of hostsOf(publicUrls[environment])) names.set(host, environment);
  }
  return (host: string | undefined): Environment | null => names.get(host?.toLowerCase() ?? '') ?? null;
};

/** An empty URL is not known yet and matches no host. */
export const isHostOf = (url: string, host: string | undefined): boolean =>
  url !== '' && hostsOf(url).includes(host?.toLowerCase() ?? '');
