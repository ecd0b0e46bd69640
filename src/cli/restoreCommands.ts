import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Epoch, parseEpoch } from '../core/epoch.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { declareRestored, watchLostEpoch } from '../engine/chain/restores.ts';
import { reviewForNobody } from '../engine/chain/reviewRestore.ts';
import { listUnclaimed, type UnclaimedRow } from '../storage/settlement/unclaimed.ts';
import { rememberedGateAt } from './auditHeadsFile.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import type { Config } from './config.ts';

const shownFunds = 1_000;

const epochOf = (text: string): Epoch => {
  const epoch = parseEpoch(text);
  if (epoch === null) throw new InvalidArgumentError('It must be written as in the log, for example 59123456.789.');
  return epoch;
};

const timeOf = (text: string): Date => {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('It must be an ISO 8601 time.');
  if (time.getTime() > Date.now()) throw new InvalidArgumentError('It must not be in the future.');
  return time;
};

const line = ({ firstSeenAt, accountId, environment, caip2, address, contract, amount }: UnclaimedRow): string =>
  `${firstSeenAt.toISOString()}  ${accountId} ${environment}  ${caip2}  ${address}  ${amount} base units of ${contract ?? 'the native coin'}`;

type RestoredOptions = Common & { since?: Date; review?: string };

/** Addresses of extended public keys take a millisecond each. */
const showProgress = (done: number, of: number): void => {
  if (done % 10_000 === 0 || done === of) console.error(`${done} of ${of} addresses`);
};

const declare = async (admin: AdminContext, config: Config, options: RestoredOptions): Promise<void> => {
  const { wasDetected, watched, since, inReview } = await declareRestored(admin, {
    backupAt: options.since ?? null,
    knownGateAt: await rememberedGateAt(config),
    onProgress: showProgress,
  });
  const text = wasDetected
    ? `The restore is confirmed. ${watched} more addresses that may have been given out are watched.`
    : `The restore is declared. ${watched} addresses that may have been given out are skipped and watched.`;
  const review =
    inReview === 0
      ? 'No account has anything in production that must be reviewed.'
      : `Production of ${inReview} ${inReview === 1 ? 'account' : 'accounts'} is closed until an owner reviews it in the dashboard. Without an owner, run: florin restored --review ACCOUNT`;
  const reading = `The chains are read again since ${since.toISOString()}. If the backup is older, read more blocks with: florin chain rescan`;
  const missing =
    'If a data directory was restored together with the database, the epochs since the backup are known only to the old log. Name each with: florin unclaimed watch';
  print(options, { wasDetected, watched, since, inReview }, [text, review, reading, missing].join('\n'));
};

const review = async (admin: AdminContext, options: RestoredOptions, account: string): Promise<void> => {
  const restoredAt = await reviewForNobody(admin, account);
  print(options, { account, restoredAt }, `The account ${account} is reviewed. Its production is open again.`);
};

/** After the database, or the whole data directory, was restored from a backup. */
export const addRestoreCommands = (program: Command): void => {
  common(
    program
      .command('restored')
      .description(
        'Declare that the data was restored from a backup, or confirm a restore that Florin has found. Indexes of extended public keys that may have been handed out are skipped, and their addresses are watched.',
      ),
  )
    .option('--since <time>', 'When the backup was taken, as ISO 8601. The chains are read again since then.', timeOf)
    .addOption(
      new Option(
        '--review <account>',
        'Open production of an account that has no owner, once you have looked at its keys, members, wallets and endpoints.',
      ).conflicts('since'),
    )
    .action((options: RestoredOptions) =>
      withAdmin(options, (admin, config) =>
        options.review === undefined ? declare(admin, config, options) : review(admin, options, options.review),
      ),
    );
  const unclaimed = program
    .command('unclaimed')
    .description('Funds that arrived for payments that a restore lost. They are shown and never credited.');
  common(unclaimed.command('list').description('List unclaimed funds, newest first.')).action((options: Common) =>
    withAdmin(options, async admin => {
      const rows = await listUnclaimed(admin.db, null, shownFunds);
      const text = rows.map(line).join('\n') || 'There are no unclaimed funds.';
      console.log(options.json ? JSON.stringify(rows) : text);
    }),
  );
  common(
    unclaimed
      .command('watch')
      .description('Watch the forwarder addresses of an epoch that a restore lost. The old log names the epoch.'),
  )
    .argument('<epoch>', 'Epoch as in the log line "derivation epoch taken".', epochOf)
    .action((epoch: Epoch, options: Common) =>
      withAdmin(options, async admin => {
        const watched = await watchLostEpoch(admin, epoch, showProgress);
        print(options, { watched }, `${watched} addresses are watched from now on.`);
      }),
    );
};
