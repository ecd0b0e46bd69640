import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { formatAmount } from '../core/money.ts';
import { decideHalt } from '../engine/chain/decideHalt.ts';
import { verifyByDecision } from '../engine/chain/verifyByDecision.ts';
import { allChains, type ChainRow } from '../storage/chain/chains.ts';
import { listUnverified, type UnverifiedTransfer } from '../storage/chain/transferDecisions.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import { addRescanCommand, height } from './rescanCommand.ts';

const line = (row: ChainRow): string =>
  [
    row.caip2.padEnd(16),
    `block ${row.latestNumber ?? '-'}`.padEnd(18),
    `final ${row.finalizedNumber ?? '-'}`.padEnd(18),
    row.haltReason === null ? 'ok' : `HALTED since ${row.haltedAt!.toISOString()}: ${row.haltReason}`,
  ].join('  ');

const transferOf = ({ amount, decimals, currency, firstSeenAt, ...transfer }: UnverifiedTransfer) => ({
  ...transfer,
  amount: formatAmount(BigInt(amount), decimals),
  currency,
  firstSeenAt: firstSeenAt.toISOString(),
});

const transferLine = (transfer: UnverifiedTransfer): string => {
  const { caip2, key, amount, currency, paymentId, blockNumber, firstSeenAt } = transferOf(transfer);
  return [caip2, key, `${amount} ${currency}`, paymentId, `block ${blockNumber}`, `since ${firstSeenAt}`].join('  ');
};

const shownUnverified = 1_000;

/** For transfers that stay unverified, which keeps their payments from completing. */
const addVerifyCommands = (chain: Command): void => {
  common(
    chain.command('unverified').description('List transfers that Florin could not verify. Their payments wait.'),
  ).action((options: Common) =>
    withAdmin(options, async admin => {
      const rows = await listUnverified(admin.db, shownUnverified);
      const text = rows.map(transferLine).join('\n') || 'Every transfer is verified.';
      print(options, { data: rows.map(transferOf) }, text);
    }),
  );
  common(
    chain
      .command('verify')
      .description('Decide that a transfer is real, after you looked at the chain yourself. You cannot undo this.'),
  )
    .argument('<caip2>', 'Chain, for example eip155:137.')
    .argument('<key>', 'Key of the transfer, as "florin chain unverified" shows it.')
    .requiredOption('--reason <text>', 'Why it is real. Kept for good.')
    .option('--by <name>', 'Who decides. Default: the name of your account on this machine.')
    .action((caip2: string, key: string, options: Common & { reason: string; by?: string }) =>
      withAdmin(options, async admin => {
        const { reason, by = userInfo().username } = options;
        const transfer = await verifyByDecision(admin, { caip2, key }, { by, reason });
        const { amount, currency, paymentId } = transferOf(transfer);
        const text = `${amount} ${currency} counts as verified. ${paymentId} is decided again within seconds.`;
        print(options, { ...transferOf(transfer), verified: true, by, reason }, text);
      }),
    );
};

/** For a chain that Florin halted because final blocks changed. */
export const addChainCommands = (program: Command): void => {
  const chain = program
    .command('chain')
    .description(
      'Show how far each chain is read, read blocks again, resume a halted chain, and decide about transfers.',
    );
  common(chain.command('list').description('Show how far each chain is read.')).action((options: Common) =>
    withAdmin(options, async admin => {
      const rows = await allChains(admin.db);
      print(options, { data: rows }, rows.map(line).join('\n') || 'No chain has been read yet.');
    }),
  );
  common(
    chain
      .command('resume')
      .description('Resume a halted chain where it stopped, after you replaced nodes that gave wrong answers.'),
  )
    .argument('<caip2>', 'Chain, for example eip155:1.')
    .action((caip2: string, options: Common) =>
      withAdmin(options, async admin => {
        await decideHalt(admin.db, caip2, null);
        print(options, { caip2, resumed: true }, `${caip2} resumes where it stopped.`);
      }),
    );
  common(
    chain
      .command('rollback')
      .description('Undo all blocks above a block, then resume. For a chain that was rewritten.'),
  )
    .argument('<caip2>', 'Chain, for example eip155:1.')
    .requiredOption('--to <number>', 'Last block that is still valid.', height)
    .action((caip2: string, options: Common & { to: number }) =>
      withAdmin(options, async admin => {
        await decideHalt(admin.db, caip2, options.to);
        const text = `Florin will undo the blocks of ${caip2} above ${options.to}. Payments that lose their funds are reversed.`;
        print(options, { caip2, rollbackTo: options.to }, text);
      }),
    );
  addVerifyCommands(chain);
  addRescanCommand(chain);
};
