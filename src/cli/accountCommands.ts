import { type Command, InvalidArgumentError, Option } from 'commander';
import { isPermission, type Permission, permissions } from '../core/access/rights.ts';
import { type Environment, environments } from '../core/environment.ts';
import { invalid } from '../core/errors.ts';
import { type Plan, plans } from '../core/plans.ts';
import { createAccount, resolveAccount } from '../engine/access/accounts.ts';
import {
  createKey,
  endKey,
  findKey,
  type RotationOverlap,
  rotateKey,
  rotationOverlaps,
} from '../engine/access/keys.ts';
import { changeSettings, revealCallbacks, type SettingsChange } from '../engine/access/settings.ts';
import { operatorActing } from '../engine/audit/acting.ts';
import { confirmRecords } from '../engine/audit/confirmRecords.ts';
import { perform } from '../engine/perform.ts';
import { listAccounts } from '../storage/access/accounts.ts';
import { type KeyRow, listKeys } from '../storage/access/keys.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import { warnOfWeakOwners } from './warnOfWeakOwners.ts';

const wholeNumber = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
};

const scopeList = (text: string): Permission[] => {
  const scopes = [...new Set(text.split(',').map(scope => scope.trim()))];
  if (!scopes.every(isPermission)) throw new InvalidArgumentError(`Choose from ${permissions.join(', ')}.`);
  return scopes;
};

const dateTime = (text: string): Date => {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new InvalidArgumentError('It must be an ISO 8601 time.');
  return date;
};

export const environmentOption = () =>
  new Option('--environment <environment>', 'Environment.').choices(environments).default('sandbox');

const keyView = ({ id, accountId, environment, name, hint, scopes, ipAllow, createdAt, expiresAt, revokedAt, successorId }: KeyRow) => ({
  id, accountId, environment, name, hint, scopes, ipAllow, createdAt, expiresAt, revokedAt, successorId,
}); // biome-ignore format: one list

type UpdateOptions = Common & {
  environment: Environment;
  checkoutOrigin?: string[] | boolean;
  supportContact?: string | boolean;
};

/** The value of an option, or `nothing` for its --no- form; undefined if neither was given. */
const givenOr = <Given, Nothing>(
  option: Given | boolean | undefined,
  nothing: Nothing,
): Given | Nothing | undefined => {
  if (option === false) return nothing;
  return option === true ? undefined : option;
};

type CheckoutChange = Pick<SettingsChange, 'checkoutOrigins' | 'supportContact'>;

const changeOf = ({ checkoutOrigin, supportContact }: UpdateOptions): CheckoutChange => {
  const [origins, contact] = [givenOr(checkoutOrigin, []), givenOr(supportContact, null)];
  const change = {
    ...(origins === undefined ? {} : { checkoutOrigins: origins }),
    ...(contact === undefined ? {} : { supportContact: contact }),
  };
  if (Object.keys(change).length === 0) {
    throw invalid(
      undefined,
      'Give --checkout-origin, --no-checkout-origin, --support-contact or --no-support-contact.',
    );
  }
  return change;
};

const sentencesOf = (checkout: string, { checkoutOrigins, supportContact }: CheckoutChange): string => {
  const sentences: string[] = [];
  if (checkoutOrigins)
    sentences.push(`${checkout} may be embedded by ${checkoutOrigins.join(', ') || 'no other site'}.`);
  if (supportContact !== undefined) sentences.push(`${checkout} shows ${supportContact ?? 'no contact'}.`);
  return sentences.join('\n');
};

const addAccounts = (program: Command): void => {
  const accounts = program.command('accounts').description('Manage accounts.');
  common(accounts.command('create').description('Create an account.'))
    .requiredOption('--name <name>', 'Name shown to payers.')
    .addOption(new Option('--plan <plan>', 'Rate limits in production.').choices(plans).default('starter'))
    .option('--rate-limit <n>', 'Enterprise only: requests per minute.', wholeNumber)
    .option('--burst <n>', 'Enterprise only: burst.', wholeNumber)
    .action((options: Common & { name: string; plan: Plan; rateLimit?: number; burst?: number }) =>
      withAdmin(options, async admin => {
        const { name, plan, rateLimit = null, burst = null } = options;
        const account = await createAccount(admin, { name, plan, rateLimit, burst });
        print(options, account, `Created account ${account.id} (${account.name}, ${account.plan}).`);
      }),
    );
  common(accounts.command('update').description('Change the checkout of an account in one environment.'))
    .argument('<account>', 'Id of the account.')
    .addOption(environmentOption())
    .option('--checkout-origin <origin...>', 'Sites that may embed the checkout in a frame. Replaces the list.')
    .option('--no-checkout-origin', 'No site may embed the checkout.')
    .option('--support-contact <contact>', 'Email address or https URL for payers who need help.')
    .option('--no-support-contact', 'Show payers no contact.')
    .action((id: string, options: UpdateOptions) =>
      withAdmin(options, async admin => {
        const { environment } = options;
        const scope = { accountId: id, environment };
        const change = changeOf(options);
        const after = await perform(admin, operatorActing(scope), null, changeSettings(change));
        const changed: CheckoutChange = {
          ...(change.checkoutOrigins === undefined ? {} : { checkoutOrigins: after.checkoutOrigins }),
          ...(change.supportContact === undefined ? {} : { supportContact: after.supportContact }),
        };
        print(options, { ...scope, ...changed }, sentencesOf(`The ${environment} checkout of ${id}`, changed));
      }),
    );
  common(
    accounts
      .command('confirm')
      .description(
        'Accept the keys, wallets, members, webhook endpoints and settings of an account as they are, after florin doctor found that they were changed in the database. Look at them first.',
      ),
  )
    .argument('<account>', 'Id of the account.')
    .action((id: string, options: Common) =>
      withAdmin(options, async admin => {
        const scope = { accountId: id, environment: null };
        await perform(admin, operatorActing(scope), null, confirmRecords(admin));
        print(options, { accountId: id }, `The records of ${id} are confirmed.`);
      }),
    );
  common(accounts.command('list').description('List accounts.')).action((options: Common) =>
    withAdmin(options, async admin => {
      const rows = await listAccounts(admin.db);
      print(options, { data: rows }, rows.map(row => `${row.id}  ${row.plan.padEnd(10)}  ${row.name}`).join('\n'));
    }),
  );
};

type KeyOptions = Common & {
  account?: string;
  environment: Environment;
  scopes: Permission[];
  name: string;
  expires?: Date;
  ip?: string[];
};

const addKeys = (program: Command): void => {
  const keys = program.command('keys').description('Manage API keys.');
  common(keys.command('create').description('Create a key. It is shown once.'))
    .option('--account <id>', 'Account. Default: the first one.')
    .addOption(environmentOption())
    .option('--scopes <list>', `Comma-separated: ${permissions.join(', ')}.`, scopeList, [...permissions])
    .option('--name <name>', 'Name of the key.', '')
    .option('--expires <time>', 'When the key expires, as ISO 8601.', dateTime)
    .option('--ip <cidr...>', 'IP addresses or CIDR blocks that may use the key.')
    .action((options: KeyOptions) =>
      withAdmin(options, async admin => {
        const account = await resolveAccount(admin, options.account ?? null);
        const { environment, scopes, name, expires = null, ip = null } = options;
        const acting = operatorActing({ accountId: account.id, environment });
        const work = createKey(admin, { scopes, name, expiresAt: expires, ipAllow: ip }, null);
        const row = await perform(admin, acting, null, work);
        print(options, { ...keyView(row), key: row.key }, `Created ${row.id}. Shown once:\n${row.key}`);
        await warnOfWeakOwners(admin, row);
      }),
    );
  common(keys.command('list').description('List keys.'))
    .option('--account <id>', 'Account. Default: the first one.')
    .action((options: Common & { account?: string }) =>
      withAdmin(options, async admin => {
        const account = await resolveAccount(admin, options.account ?? null);
        const rows = await listKeys(admin.db, account.id);
        const line = (row: KeyRow) =>
          `${row.id}  ${row.environment.padEnd(10)}  ${row.hint}  ${row.revokedAt ? 'revoked' : row.scopes.join(',')}`;
        print(options, { data: rows.map(keyView) }, rows.map(line).join('\n'));
      }),
    );
  common(keys.command('rotate').description('Replace a key. The old key still works for the overlap.'))
    .argument('<id>', 'Id of the key.')
    .addOption(
      new Option('--overlap <time>', 'How long the old key still works.')
        .choices(Object.keys(rotationOverlaps))
        .default('24h'),
    )
    .action((id: string, options: Common & { overlap: RotationOverlap }) =>
      withAdmin(options, async admin => {
        const acting = operatorActing(await findKey(admin, id));
        const row = await perform(admin, acting, null, rotateKey(admin, id, options.overlap, null));
        print(
          options,
          { ...keyView(row), key: row.key },
          `Created ${row.id} in place of ${id}. Shown once:\n${row.key}`,
        );
      }),
    );
  common(keys.command('revoke').description('Revoke a key. It stops working within a second.'))
    .argument('<id>', 'Id of the key.')
    .action((id: string, options: Common) =>
      withAdmin(options, async admin => {
        const row = await perform(admin, operatorActing(await findKey(admin, id)), null, endKey(id));
        print(options, keyView(row), `Revoked ${row.id}.`);
      }),
    );
};

const addSecrets = (program: Command): void => {
  const secrets = program.command('secrets').description('Show secrets.');
  common(secrets.command('callback').description('Show the secret that signs requests to callbackUrl.'))
    .option('--account <id>', 'Account. Default: the first one.')
    .addOption(environmentOption())
    .action((options: Common & { account?: string; environment: Environment }) =>
      withAdmin(options, async admin => {
        const account = await resolveAccount(admin, options.account ?? null);
        const { environment } = options;
        const acting = operatorActing({ accountId: account.id, environment });
        const secret = await perform(admin, acting, null, revealCallbacks(admin));
        print(options, { accountId: account.id, environment, secret }, secret);
      }),
    );
  common(secrets.command('alert').description('Show the secret that signs alerts to FLORIN_ALERT_URL.')).action(
    (options: Common) =>
      withAdmin(options, async admin => {
        const secret = admin.vault.alertSecret();
        print(options, { secret }, secret);
      }),
  );
};

export const addAccountCommands = (program: Command): void => {
  addAccounts(program);
  addKeys(program);
  addSecrets(program);
};
