import type { Command } from 'commander';
import { migrate } from '../storage/migrate.ts';
import { serviceRoleOf } from './compose.ts';
import { ConfigError, loadConfig } from './config.ts';
import { refuseUnreachable } from './refuseDatabase.ts';
import { createStartProgress } from './startProgress.ts';

/** For deployments that migrate in a separate step before the new version starts. */
export const addMigrateCommand = (program: Command): void => {
  program
    .command('migrate')
    .description('Update the schema of the database in DATABASE_URL. florin start does this too.')
    .option('--finish', 'End the upgrade: earlier versions can no longer use the database. Refused while one runs.')
    .option('--json', 'Print JSON.')
    .action(async (options: { json?: boolean; finish?: boolean }) => {
      const config = await loadConfig();
      if (!config.database)
        throw new ConfigError(['DATABASE_URL is not set. florin start updates the embedded database.']);
      await refuseUnreachable(config.database);
      const { createLog } = await import('./log.ts');
      const { log, flush } = createLog(config);
      const serviceRole = serviceRoleOf(config.database);
      const owner = { connectionString: config.database.migrateUrl };
      const { progress, end } = createStartProgress(log, process.stderr.isTTY ? process.stderr : null);
      const result = await migrate(owner, {
        log,
        progress,
        ...(serviceRole === null ? {} : { serviceRole }),
        ...(options.finish ? { finish: 'always' } : {}),
      })
        .finally(end)
        .finally(flush);
      const text = result.applied === 0 ? 'Nothing to do' : `Applied ${result.applied}`;
      const isFinished = result.finished === result.version;
      const rest = isFinished
        ? ''
        : ' The upgrade is not finished: going back is possible until florin migrate --finish.';
      console.log(
        options.json ? JSON.stringify(result) : `${text}: the schema is at version ${result.version}.${rest}`,
      );
    });
};
