import type { Command } from 'commander';
import { listUnexplained, type UnexplainedRow } from '../storage/unexplainedFunds.ts';
import { type Common, common, print, withAdmin } from './commands.ts';

const most = 1_000;

const line = (row: UnexplainedRow): string =>
  [
    row.paymentId,
    row.caip2,
    row.address,
    `${row.amount} base units of ${row.contract ?? 'native coin'}`,
    `block ${row.blockNumber}`,
    `since ${row.seenAt.toISOString()}`,
  ].join('  ');

/** Funds that an address holds and no recorded transfer explains. */
export const addUnexplainedCommand = (chain: Command): void => {
  common(chain.command('unexplained').description('List funds at payment addresses that no transfer explains.')).action(
    (options: Common) =>
      withAdmin(options, async ({ db }) => {
        const rows = await listUnexplained(db, most);
        print(options, { data: rows }, rows.map(line).join('\n') || 'All funds are explained.');
      }),
  );
};
