import { type Command, InvalidArgumentError } from 'commander';
import { decideHalt } from '../engine/decideHalt.ts';
import { allChains, type ChainRow } from '../storage/chains.ts';
import { type Common, common, print, withAdmin } from './commands.ts';

const height = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a block number.');
  return Number(text);
};

const line = (row: ChainRow): string =>
  [
    row.caip2.padEnd(16),
    `block ${row.latestNumber ?? '-'}`.padEnd(18),
    `final ${row.finalizedNumber ?? '-'}`.padEnd(18),
    row.haltReason === null ? 'ok' : `HALTED since ${row.haltedAt!.toISOString()}: ${row.haltReason}`,
  ].join('  ');

/** For a chain that Florin halted because final blocks changed. */
export const addChainCommands = (program: Command): void => {
  const chain = program.command('chain').description('Show how far each chain is read, and resume a halted chain.');
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
};
