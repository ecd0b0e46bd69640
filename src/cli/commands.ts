import type { Command } from 'commander';
import { silentLog } from '../core/log.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { openAdmin, openStorage } from './compose.ts';
import { type Config, loadConfig } from './config.ts';

export type Common = { dataDir?: string; json?: boolean };

/** Prints text, or JSON for programs. */
export const print = (options: Common, value: object, text: string): void =>
  console.log(options.json ? JSON.stringify(value) : text);

/** Runs a command beside a server, with the same data directory or DATABASE_URL and its own connection. */
export const withAdmin = async (
  options: Common,
  work: (admin: AdminContext, config: Config) => Promise<void>,
): Promise<void> => {
  const config = await loadConfig({ flags: { dataDir: options.dataDir } });
  const storage = await openStorage(config, silentLog);
  try {
    await work(await openAdmin(config, storage), config);
  } finally {
    await storage.stop();
  }
};

export const common = (command: Command): Command =>
  command.option('--data-dir <dir>', "The server's data directory.").option('--json', 'Print JSON.');
