import type { Command } from 'commander';
import { FlorinError } from '../core/errors.ts';
import { resolveAccount } from '../engine/access/accounts.ts';
import { createSetupLink, setupUrl } from '../engine/access/createSetupLink.ts';
import { readDashboardUrl } from '../engine/access/dashboardUrl.ts';
import { operatorActor } from '../engine/audit/audit.ts';
import { type Common, common, print, withAdmin } from './commands.ts';

export const addSetupLinkCommand = (program: Command): void => {
  common(
    program
      .command('setup-link')
      .description('Create a link that sets up the first owner of an account. It works once, for one hour.')
      .option('--account <id>', 'Account. Default: the first one.'),
  ).action((options: Common & { account?: string }) =>
    withAdmin(options, async admin => {
      const account = await resolveAccount(admin, options.account ?? null);
      const url = await readDashboardUrl(admin);
      if (url === null)
        throw new FlorinError('conflict', 'Florin does not know the address of its dashboard yet. Start Florin first.');
      const { token, expiresAt } = await createSetupLink(admin, account.id, operatorActor);
      const link = setupUrl(url, token);
      print(
        options,
        { accountId: account.id, link, expiresAt },
        `Open this link within one hour. It works once.\n${link}`,
      );
    }),
  );
};
