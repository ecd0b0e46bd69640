import type { Command } from 'commander';
import { resolveAccount } from '../engine/accounts.ts';
import { operatorActor } from '../engine/dashboard/audit.ts';
import { createSetupLink, setupUrl } from '../engine/dashboard/createSetupLink.ts';
import { readDeploymentValue } from '../storage/deployment.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import { ConfigError } from './config.ts';
import { dashboardUrlName } from './firstRun.ts';

export const addSetupLinkCommand = (program: Command): void => {
  common(
    program
      .command('setup-link')
      .description('Make a link that makes the first owner of an account. It works once, for an hour.')
      .option('--account <id>', 'Which account; the first one where none is named.'),
  ).action((options: Common & { account?: string }) =>
    withAdmin(options, async admin => {
      const account = await resolveAccount(admin, options.account ?? null);
      const url = await readDeploymentValue(admin.db, dashboardUrlName);
      if (url === null) throw new ConfigError(['Nobody knows the address of the dashboard yet: start Florin first.']);
      const { token, expiresAt } = await createSetupLink(admin, account.id, operatorActor);
      const link = setupUrl(url, token);
      print(options, { accountId: account.id, link, expiresAt }, `Open this within an hour, it works once:\n${link}`);
    }),
  );
};
