import { type Command, Option } from 'commander';
import type { Environment } from '../core/environment.ts';
import { invalid } from '../core/errors.ts';
import { silentLog } from '../core/log.ts';
import { slugs } from '../core/registry/backings.ts';
import { resolveAccount } from '../engine/access/accounts.ts';
import { operatorActing } from '../engine/audit/acting.ts';
import { perform } from '../engine/perform.ts';
import { setWallet } from '../engine/wallets/setWallet.ts';
import { showWallets, stopChange } from '../engine/wallets/wallets.ts';
import { environmentOption } from './accountCommands.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import { networksOf } from './compose.ts';
import { warnOfWeakOwners } from './warnOfWeakOwners.ts';

const addSet = (wallets: Command): void => {
  common(wallets.command('set').description('Set the wallet of a network. It applies to new payments.'))
    .option('--account <id>', 'Account. Default: the first one.')
    .addOption(environmentOption())
    .addOption(new Option('--network <slug>', 'Network.').choices(slugs).makeOptionMandatory())
    .option('--treasury <address>', 'Your own address. Every payment is forwarded to it.')
    .option('--xpub <key>', 'Extended public key. Every payment gets an address derived from it.')
    .action(
      (
        options: Common & {
          account?: string;
          environment: Environment;
          network: string;
          treasury?: string;
          xpub?: string;
        },
      ) =>
        withAdmin(options, async (admin, config) => {
          const { treasury, xpub, environment, network } = options;
          if ((treasury === undefined) === (xpub === undefined))
            throw invalid(undefined, 'Give either --treasury or --xpub.');
          const account = await resolveAccount(admin, options.account ?? null);
          const destination = treasury === undefined ? { xpub: xpub! } : { treasury };
          const scope = { accountId: account.id, environment };
          const work = setWallet(admin, network, destination, networksOf(config, null));
          const wallet = await perform(admin, operatorActing(scope), null, work);
          const answer = { accountId: account.id, environment, network, ...wallet };
          print(options, answer, `New ${environment} payments on ${network} go to ${wallet.destination}.`);
          await warnOfWeakOwners(admin, answer);
        }),
    );
};

type WalletScope = Common & { account?: string; environment: Environment };

const addList = (wallets: Command): void => {
  common(wallets.command('list').description('List the wallets of an account, with changes that wait.'))
    .option('--account <id>', 'Account. Default: the first one.')
    .addOption(environmentOption())
    .action((options: WalletScope) =>
      withAdmin(options, async (admin, config) => {
        const { id: accountId } = await resolveAccount(admin, options.account ?? null);
        const { environment } = options;
        const context = { ...admin, log: silentLog, networks: { all: () => networksOf(config, null) } };
        const rows = await showWallets(context, { accountId, environment });
        const lines = rows.flatMap(({ network, pending, ...row }) => [
          ...(row.kind === null ? [] : [`${network}  ${row.kind}  ${row.destination}`]),
          ...(pending === null
            ? []
            : [`${network}  waits until ${pending.takesEffectAt}: ${pending.destination} (stop with ${pending.id})`]),
        ]);
        print(options, rows, lines.join('\n') || `No wallet is set in ${environment}.`);
      }),
    );
};

const addStop = (wallets: Command): void => {
  common(
    wallets
      .command('stop <change>')
      .description('Stop a change of wallet before it takes effect. florin wallets list shows the changes.'),
  )
    .option('--account <id>', 'Account. Default: the first one.')
    .addOption(environmentOption())
    .action((change: string, options: WalletScope) =>
      withAdmin(options, async admin => {
        const { id: accountId } = await resolveAccount(admin, options.account ?? null);
        const { environment } = options;
        await perform(admin, operatorActing({ accountId, environment }), null, stopChange(change));
        print(options, { accountId, environment, stopped: change }, `The change ${change} was stopped.`);
      }),
    );
};

export const addWalletCommands = (program: Command): void => {
  const wallets = program.command('wallets').description('Manage the wallets that receive payments.');
  addSet(wallets);
  addList(wallets);
  addStop(wallets);
};
