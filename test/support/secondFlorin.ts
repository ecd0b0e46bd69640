import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/cli/config.ts';
import { type Florin, startFlorin, type Tuning } from '../../src/cli/florin.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { atEndOfFile } from './endOfFile.ts';

/** Another Florin on the same database, with a data directory of its own; serves the API only, unless told otherwise. */
export const startSecondFlorin = async (
  databaseUrl: string,
  env: Record<string, string>,
  configFile: object = {},
  log: Log = silentLog,
  tuning: Tuning = {},
): Promise<{ florin: Florin; stop(): Promise<void> }> => {
  const room = await mkdtemp(join(tmpdir(), 'florin-'));
  await writeFile(join(room, 'florin.config.json'), JSON.stringify(configFile));
  const settings = { DATABASE_URL: databaseUrl, FLORIN_PORT: '0', FLORIN_SANDBOX_PORT: '0', FLORIN_ROLES: 'api' };
  const florin = await startFlorin(
    await loadConfig({ env: { ...settings, ...env }, cwd: room }),
    log,
    undefined,
    tuning,
  );
  atEndOfFile(florin.stop);
  return { florin, stop: florin.stop };
};
