import { loadRelease } from '../../storage/release.ts';
import { ConfigError } from '../config.ts';
import { version } from '../version.ts';

/** Tells two versions of Florin apart, as far as they can be by their number and their migrations. */
export type Installed = { readonly version: string; readonly migrations: number };

export const readInstalled = async (): Promise<Installed> => ({
  version,
  migrations: (await loadRelease()).migrations.length,
});

/** A process that is launched later loads what is there then. It must be what its supervisor runs. */
export const refuseOther = (own: Installed, supervisors: Installed): void => {
  if (own.version !== supervisors.version || own.migrations !== supervisors.migrations)
    throw new ConfigError(['Florin was updated on disk while it ran. Restart it.']);
};
