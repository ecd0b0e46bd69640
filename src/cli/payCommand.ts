import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { createDevPayer } from '../chains/evm/devPayer.ts';
import { FlorinError, invalid } from '../core/errors.ts';
import { idPrefixes, isId } from '../core/ids.ts';
import { formatAmount, parseAmount } from '../core/money.ts';
import type { PaymentKey } from '../core/paymentKey.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { findPayment, readPayments, type ShownPayment } from '../storage/payments/payments.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import { loadConfig } from './config.ts';
import { findLocalRpcUrl } from './localRpcUrl.ts';
import { localCaip2 } from './watchedChains.ts';

/** How long to watch the payment after the transaction, and how often. */
const [patienceMs, lookMs] = [10_000, 200];

const exampleId = `${idPrefixes.payment}01kf0fv2e0t4w9c2xk7m5hq8bn`;

const localRpcUrl = async (dataDir: string): Promise<string> => {
  const url = await findLocalRpcUrl(dataDir);
  if (url !== null) return url;
  throw new FlorinError(
    'conflict',
    `No local chain is running in ${dataDir}. florin start runs one for sandbox networks without RPC URLs.`,
  );
};

const read = async (admin: AdminContext, key: PaymentKey): Promise<ShownPayment> =>
  (await readPayments(admin.db, [{ scope: key, id: key.id }]))[0]!;

const payable = async (admin: AdminContext, id: string): Promise<{ key: PaymentKey; row: ShownPayment }> => {
  if (!isId('payment', id))
    throw invalid('payment-id', `${id} is not a payment id. Payment ids look like ${exampleId}.`);
  const key = await findPayment(admin.db, 'sandbox', id);
  if (key === null) throw new FlorinError('not_found', `There is no sandbox payment with the id ${id}.`);
  const row = await read(admin, key);
  if (row.caip2 !== localCaip2)
    throw new FlorinError(
      'conflict',
      `The payment is on ${row.caip2}. florin pay sends money on the local chain only.`,
    );
  return { key, row };
};

const amountToSend = (
  { amount, amountReceived, decimals, currency }: ShownPayment,
  text: string | undefined,
): bigint => {
  if (text !== undefined) {
    const parsed = parseAmount(text, decimals);
    if (parsed.ok) return parsed.units;
    throw invalid(
      'amount',
      `--amount must be a positive number with at most ${decimals} decimal places (${currency}).`,
    );
  }
  const missing = BigInt(amount) - BigInt(amountReceived);
  if (missing > 0n) return missing;
  throw new FlorinError('conflict', 'The payment is paid in full. To send more, give --amount.');
};

/** Waits until the money that was sent is confirmed, or until the timeout. */
const watch = async (admin: AdminContext, before: ShownPayment, key: PaymentKey, units: bigint) => {
  const endMs = performance.now() + patienceMs;
  // Money that arrived before and is not confirmed yet must not be taken for this.
  const expected = BigInt(before.amountReceived) + units;
  for (;;) {
    const row = await read(admin, key);
    if (BigInt(row.amountConfirmed) >= expected || performance.now() > endMs) return row;
    await pause(lookMs);
  }
};

export const addPayCommand = (program: Command): void => {
  common(program.command('pay').description('Pay a sandbox payment with test money on the local chain.'))
    .argument('<payment-id>', 'Id of a sandbox payment.')
    .option('--amount <amount>', 'Amount in the currency of the payment. Default: the amount that is still due.')
    .action(async (id: string, options: Common & { amount?: string }) => {
      const { dataDir } = await loadConfig({ flags: { dataDir: options.dataDir } });
      await withAdmin(options, async admin => {
        const { key, row } = await payable(admin, id);
        const units = amountToSend(row, options.amount);
        const payer = createDevPayer(await localRpcUrl(dataDir));
        const transaction = await payer.pay({ to: row.address, token: row.contract, amount: units });
        const { status, exception } = await watch(admin, row, key, units);
        const amount = formatAmount(units, row.decimals);
        print(
          options,
          { id, transaction, amount, currency: row.currency, status, exception },
          `Sent ${amount} ${row.currency} in ${transaction}.\nThe payment is ${status}${exception ? ` (${exception})` : ''}.`,
        );
      });
    });
};
