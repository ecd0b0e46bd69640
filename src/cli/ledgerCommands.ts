import { userInfo } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import type { Environment } from '../core/environment.ts';
import { type LedgerBalances, ledgerAccounts, ledgerBalances } from '../core/ledger.ts';
import { resolveAccount } from '../engine/access/accounts.ts';
import { correctLedger } from '../engine/settlement/correctLedger.ts';
import { type DifferenceRow, listDifferences } from '../storage/settlement/differences.ts';
import { readLedger } from '../storage/settlement/ledger.ts';
import { countSuspected } from '../storage/settlement/reconciliation.ts';
import { environmentOption } from './accountCommands.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import { compareWithChains } from './compareWithChains.ts';

const shownDifferences = 1_000;

const balancesJson = ({ balances, swept, ...token }: LedgerBalances) => ({
  ...token,
  ...Object.fromEntries(ledgerAccounts.map(name => [name, balances[name].toString()])),
  swept: swept.toString(),
});

const balanceLine = ({ caip2, contract, balances }: LedgerBalances): string =>
  [
    `${caip2}  ${contract ?? 'native coin'}`,
    ...ledgerAccounts.map(name => `  ${name.padEnd(12)}${balances[name].toString().padStart(32)}`),
  ].join('\n');

const differenceLine = (row: DifferenceRow): string =>
  [
    row.id,
    row.paymentId,
    row.caip2,
    row.address,
    `${row.amount.replace(/^(?!-)/, '+')} base units of ${row.contract ?? 'native coin'}`,
    `block ${row.blockNumber}`,
    `since ${row.seenAt.toISOString()}`,
  ].join('  ');

const addShow = (ledger: Command): void => {
  common(ledger.command('show').description('Show the balances of the ledger, in base units. They add up to zero.'))
    .option('--account <id>', 'Account. Default: the first one.')
    .addOption(environmentOption())
    .action((options: Common & { account?: string; environment: Environment }) =>
      withAdmin(options, async admin => {
        const account = await resolveAccount(admin, options.account ?? null);
        const flows = await readLedger(admin.db, { accountId: account.id, environment: options.environment });
        const tokens = ledgerBalances(flows);
        const text = tokens.map(balanceLine).join('\n') || 'Nothing has arrived yet.';
        print(options, { data: tokens.map(balancesJson) }, text);
      }),
    );
};

const addCheck = (ledger: Command): void => {
  common(
    ledger
      .command('check')
      .description(
        'Compare every forwarder address with the chain now, beside the running server, and list the differences. A new difference is listed once its block is final.',
      ),
  ).action((options: Common) =>
    withAdmin(options, async ({ db }) => {
      const chains = await compareWithChains(db, progress => {
        if (!options.json) console.error(progress);
      });
      const differences = await listDifferences(db, shownDifferences);
      const waiting = await countSuspected(db);
      const sum = chains.reduce((total, { compared }) => total + compared, 0);
      const lines = [
        `${sum} addresses on ${chains.length} chains were compared.`,
        `Open differences: ${differences.length}. New ones that wait until their block is final: ${waiting}.`,
        ...differences.map(differenceLine),
      ];
      print(options, { chains, differences, waiting }, lines.join('\n'));
      if (differences.length + waiting > 0) process.exitCode = 1;
    }),
  );
};

const whole = (text: string): string => {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('It must be a number.');
  return text;
};
const units = (text: string): bigint => {
  if (!/^[+-]?\d{1,60}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, for example -25.');
  return BigInt(text.replace('+', ''));
};

const addDifferences = (ledger: Command): void => {
  common(
    ledger.command('differences').description('List addresses that hold more or less than the records say.'),
  ).action((options: Common) =>
    withAdmin(options, async ({ db }) => {
      const rows = await listDifferences(db, shownDifferences);
      print(options, { data: rows }, rows.map(differenceLine).join('\n') || 'All addresses hold what was recorded.');
    }),
  );
  common(
    ledger
      .command('correct')
      .description(
        'Resolve a difference with an entry in the ledger, after you looked at the chain yourself. You cannot undo this. The payment does not change.',
      ),
  )
    .argument('<id>', 'Number of the difference, as "florin ledger differences" shows it.', whole)
    .requiredOption(
      '--amount <base units>',
      'The difference as you saw it, with its sign. If it is another now, nothing happens.',
      units,
    )
    .requiredOption('--reason <text>', 'Why the records differ. Kept for good.')
    .option('--by <name>', 'Who decides. Default: the name of your account on this machine.')
    .action((id: string, options: Common & { amount: bigint; reason: string; by?: string }) =>
      withAdmin(options, async admin => {
        const { reason, by = userInfo().username } = options;
        const asked = { id, amount: options.amount };
        const { paymentId, caip2, contract, amount } = await correctLedger(admin, asked, { by, reason });
        const text = `The ledger of ${paymentId} is corrected by ${amount} base units of ${contract ?? 'native coin'}.`;
        print(options, { id, paymentId, caip2, contract, amount, by, reason }, text);
      }),
    );
};

/** The ledger, and how it compares with the chain. */
export const addLedgerCommands = (program: Command): void => {
  const ledger = program
    .command('ledger')
    .description('Show where money came from and where it is, and compare the records with the chain.');
  addShow(ledger);
  addCheck(ledger);
  addDifferences(ledger);
};
