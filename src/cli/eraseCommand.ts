import { createInterface } from 'node:readline/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { codeOf } from '../core/errorCode.ts';
import { FlorinError, invalid } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { silentLog } from '../core/log.ts';
import { type Erasure, erasedFields } from '../core/payment/personalTexts.ts';
import type { PaymentKey } from '../core/paymentKey.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { operatorActing } from '../engine/audit/acting.ts';
import { type Erased, erasePayment, refuseOpen } from '../engine/payments/erasePayment.ts';
import { perform } from '../engine/perform.ts';
import { clearEarlierRows, runningTransactions } from '../storage/clearing.ts';
import { findPayments } from '../storage/payments/erasing.ts';
import { type Common, common, print } from './commands.ts';
import { openAdmin, openStorage } from './compose.ts';
import { loadConfig } from './config.ts';

type EraseOptions = Common & {
  payment: string[];
  externalId?: boolean;
  callbackUrl?: boolean;
  rewrite?: boolean;
  yes?: boolean;
};

/** Of one command: the list is an argument, and each payment is looked up first. */
const mostPayments = 10_000;
const [lookMs, longestWaitMs] = [100, 60_000];
const insufficientPrivilege = '42501';

/** All of them, or a refusal that names the first one that cannot be erased. */
const readAll = async ({ db }: AdminContext, asked: readonly string[]): Promise<PaymentKey[]> => {
  const ids = [...new Set(asked)];
  if (ids.length > mostPayments) throw invalid(undefined, `Name at most ${mostPayments} payments at a time.`);
  const known = ids.filter(id => isId('payment', id));
  const found = new Map((await findPayments(db, known)).map(row => [row.id, row]));
  return ids.map(id => {
    const row = found.get(id);
    if (row === undefined) throw new FlorinError('not_found', `No payment has the id ${id}. Nothing was erased.`);
    refuseOpen(row);
    const { accountId, environment } = row;
    return { accountId, environment, id };
  });
};

const confirm = async (count: number, fields: readonly string[]): Promise<void> => {
  if (!process.stdin.isTTY) throw invalid(undefined, 'This cannot be undone. Add --yes to do it without being asked.');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const what = `${fields.join(', ')} of ${count === 1 ? 'one payment' : `${count} payments`}`;
    const answer = await terminal.question(`Erase ${what}? This cannot be undone. [y/N] `);
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new FlorinError('conflict', 'Nothing was erased.');
  } finally {
    terminal.close();
  }
};

const eraseAll = async (
  admin: AdminContext,
  payments: readonly PaymentKey[],
  erasure: Erasure,
  tell: (text: string) => void,
): Promise<(Erased & { readonly id: string })[]> => {
  const erased: (Erased & { readonly id: string })[] = [];
  for (const { id, ...scope } of payments) {
    const work = erasePayment(admin, { id, ...scope }, erasure);
    erased.push({ id, ...(await perform(admin, operatorActing(scope), null, work)) });
    if (erased.length % 100 === 0) tell(`${erased.length} of ${payments.length} payments`);
  }
  return erased;
};

/** Earlier rows stay while a transaction can see them. */
const waitForTransactions = async ({ db }: AdminContext): Promise<boolean> => {
  let left = await runningTransactions(db);
  for (let waitedMs = 0; left.size > 0; waitedMs += lookMs) {
    if (waitedMs >= longestWaitMs) return false;
    await pause(lookMs);
    left = left.intersection(await runningTransactions(db));
  }
  return true;
};

const report = (erased: readonly Erased[], waited: boolean, rewrite: boolean): string => {
  const sum = (read: (of: Erased) => number): number => erased.reduce((total, of) => total + read(of), 0);
  const changed = erased.filter(of => of.payment || of.events + of.responses + of.answers > 0).length;
  const counts = `${sum(of => of.events)} events, ${sum(of => of.responses)} answers of receivers, ${sum(of => of.answers)} kept answers`;
  return [
    `${changed} of ${erased.length} payments had something to erase: ${counts}.`,
    ...(waited
      ? []
      : ['A transaction runs since before. Earlier rows that it can see are still there: run this again later.']),
    rewrite
      ? 'The tables were rewritten. Write-ahead log from before stays until PostgreSQL has used its files again.'
      : 'Free space in the files of the database may still contain the texts until it is used again. --rewrite ends that.',
    'Backups from before, and what receivers got, still have them. See docs/personal-data.md.',
  ].join('\n');
};

const erase = async (options: EraseOptions): Promise<void> => {
  const erasure = { externalId: options.externalId ?? false, callbackUrl: options.callbackUrl ?? false };
  const rewrite = options.rewrite ?? false;
  const config = await loadConfig({ flags: { dataDir: options.dataDir } });
  // The role of the service may not change events.
  const storage = await openStorage(config, silentLog, { asOwner: true });
  const tell = (text: string): void => {
    if (!options.json) console.error(text);
  };
  try {
    const admin = await openAdmin(config, storage);
    const payments = await readAll(admin, options.payment);
    if (!options.yes) await confirm(payments.length, erasedFields(erasure));
    const erased = await eraseAll(admin, payments, erasure, tell);
    const waited = await waitForTransactions(admin);
    await clearEarlierRows(storage.db, { rewrite, tell: table => tell(`clearing ${table}`) });
    print(
      options,
      { fields: erasedFields(erasure), payments: erased, rewritten: rewrite, waited },
      report(erased, waited, rewrite),
    );
  } catch (error) {
    if (codeOf(error) !== insufficientPrivilege) throw error;
    const message =
      'The role of the database may not erase. Set FLORIN_MIGRATE_DATABASE_URL to the role that owns the tables.';
    throw new FlorinError('permission_denied', message);
  } finally {
    await storage.stop();
  }
};

export const addEraseCommand = (program: Command): void => {
  common(
    program
      .command('erase')
      .description(
        'Erase the personal data of payments that have ended: description, metadata and redirectUrl, in payments, events, answers of receivers and kept answers. You cannot undo this.',
      ),
  )
    .requiredOption('--payment <id...>', 'Payments, of any account and environment.')
    .option('--external-id', 'Also erase externalId. The same order can then be created again.')
    .option('--callback-url', 'Also erase callbackUrl. The payment then sends no more callbacks.')
    .option(
      '--rewrite',
      'Also rewrite the tables, so that no page has the texts. Payments wait for seconds per million rows.',
    )
    .option('--yes', 'Do not ask.')
    .action(erase);
};
