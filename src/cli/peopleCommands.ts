import { type Command, Option } from 'commander';
import { FlorinError } from '../core/errors.ts';
import { readDashboardUrl } from '../engine/access/dashboardUrl.ts';
import { type KeyFate, keyFates } from '../engine/access/endMembership.ts';
import { createRecoveryLink } from '../engine/access/recovery.ts';
import { removePerson } from '../engine/access/removePerson.ts';
import { listEverybody } from '../storage/access/people.ts';
import { type Common, common, print, withAdmin } from './commands.ts';

const addList = (people: Command): void => {
  common(people.command('list').description('List everybody who can sign in, with their accounts and roles.')).action(
    (options: Common) =>
      withAdmin(options, async admin => {
        const rows = await listEverybody(admin.db);
        const lines = rows.map(({ email, name, accounts, hasSecondFactor }) => {
          const roles = accounts.map(account => `${account.role} of ${account.name}`).join(', ') || 'no account';
          return `${email}  ${name}  ${roles}${hasSecondFactor ? '' : '  (no second factor)'}`;
        });
        print(options, rows, lines.join('\n') || 'Nobody yet. Run florin setup-link.');
      }),
  );
};

type RemoveOptions = Common & { account?: string; keys?: KeyFate; lastOwner?: boolean };

const addRemove = (people: Command): void => {
  common(
    people
      .command('remove <email>')
      .description('Remove a person and what they sign in with, or only their membership in one account.')
      .option('--account <id>', 'Only from this account. Their sign-in stays.')
      .addOption(new Option('--keys <fate>', 'What becomes of the API keys that they made.').choices(keyFates))
      .option('--last-owner', 'Even if an account has no owner left. florin setup-link then makes a new one.'),
  ).action((email: string, options: RemoveOptions) =>
    withAdmin(options, async admin => {
      const { account = null, keys, lastOwner = false } = options;
      const accounts = await removePerson(admin, email, { accountId: account, keys, evenLastOwner: lastOwner });
      const names = accounts.map(({ name }) => name).join(', ') || 'no account';
      const text =
        account === null ? `${email} can no longer sign in (${names}).` : `${email} was removed from ${names}.`;
      print(options, { email, accounts: accounts.map(({ id }) => id) }, text);
    }),
  );
};

const addRecoveryLink = (people: Command): void => {
  common(
    people
      .command('recovery-link <email>')
      .description(
        'Create a link to set a new password. If another owner exists, it opens after 24 hours and is announced.',
      ),
  ).action((email: string, options: Common) =>
    withAdmin(options, async admin => {
      const url = await readDashboardUrl(admin);
      if (url === null)
        throw new FlorinError('conflict', 'Florin does not know the address of its dashboard yet. Start Florin first.');
      const { token, opensAt, expiresAt, hasToWait } = await createRecoveryLink(admin, email);
      // The token is in the fragment, which browsers do not send, so it is in no log.
      const link = `${url}/dashboard/recovery#${token}`;
      const when = hasToWait
        ? `It opens at ${opensAt.toISOString()}. Until then, everybody in their accounts is told.`
        : 'It is open now.';
      const text = `Give this link to ${email}. It works once, until ${expiresAt.toISOString()}. ${when}\n${link}`;
      print(options, { email, link, opensAt, expiresAt }, text);
    }),
  );
};

export const addPeopleCommands = (program: Command): void => {
  const people = program.command('people').description('Manage who can sign in to the dashboard.');
  addList(people);
  addRemove(people);
  addRecoveryLink(people);
};
