import { type Command, InvalidArgumentError } from 'commander';
import { decideHalt } from '../engine/decideHalt.ts';
import { allChains, type ChainRow } from '../storage/chains.ts';
import { type Common, common, print, withAdmin } from './commands.ts';

const height = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be the number of a block.');
  return Number(text);
};

const line = (row: ChainRow): string =>
  [
    row.caip2.padEnd(16),
    `block ${row.latestNumber ?? '-'}`.padEnd(18),
    `final ${row.finalizedNumber ?? '-'}`.padEnd(18),
    row.haltReason === null ? 'ok' : `HALTED since ${row.haltedAt!.toISOString()}: ${row.haltReason}`,
  ].join('  ');

/** For an operator whose chain was halted because blocks that must not change have changed. */
export const addChainCommands = (program: Command): void => {
  const chain = program.command('chain').description('See how far chains are read; decide after a halt.');
  common(chain.command('list').description('How far each chain is read.')).action((options: Common) =>
    withAdmin(options, async admin => {
      const rows = await allChains(admin.db);
      print(options, { data: rows }, rows.map(line).join('\n') || 'No chain has been read yet.');
    }),
  );
  common(chain.command('resume').description('Go on where it stopped: the nodes were wrong and have been replaced.'))
    .argument('<caip2>', 'For example eip155:1.')
    .action((caip2: string, options: Common) =>
      withAdmin(options, async admin => {
        await decideHalt(admin.db, caip2, null);
        print(options, { caip2, resumed: true }, `${caip2} goes on where it stopped.`);
      }),
    );
  common(chain.command('rollback').description('Accept the rewritten chain: undo the blocks above one, then go on.'))
    .argument('<caip2>', 'For example eip155:1.')
    .requiredOption('--to <number>', 'The last block that still holds.', height)
    .action((caip2: string, options: Common & { to: number }) =>
      withAdmin(options, async admin => {
        await decideHalt(admin.db, caip2, options.to);
        const text = `The blocks of ${caip2} above ${options.to} will be undone; payments that lose their funds are reversed.`;
        print(options, { caip2, rollbackTo: options.to }, text);
      }),
    );
};
