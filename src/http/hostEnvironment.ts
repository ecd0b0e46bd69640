import { type Environment, environments } from '../core/environment.ts';

/** Which environment a Host header means, where both share a port; null for a name that is neither's. */
export const createHostEnvironment = (publicUrls: Readonly<Record<Environment, string>>) => {
  const names = new Map<string, Environment>();
  for (const environment of environments) {
    const { host, port } = new URL(publicUrls[environment]);
    names.set(host, environment);
    // The default port may be written or left out.
    if (port === '') names.set(`${host}:443`, environment);
  }
  return (host: string | undefined): Environment | null => names.get(host?.toLowerCase() ?? '') ?? null;
};
