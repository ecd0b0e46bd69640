import { encodeSweep, forwarderFactory } from '../../chains/evm/forwarder.ts';
import type { Scope } from '../../core/environment.ts';
import type { PaymentRow } from '../../storage/payments/payments.ts';
import type { Context } from '../context.ts';
import { heldBy } from '../payments/movedFunds.ts';
import { assertAuthentic, TamperedPayment } from '../payments/paymentAddress.ts';

/**
 * About 5.5 million gas with new forwarders (docs/decisions/receiving-addresses.md), a third of the 16.7 million that one
 * transaction may have where EIP-7825 is in force.
 */
export const paymentsInSweep = 100;

/** One token that the forwarder of a payment holds. */
export type SweepItem = {
  readonly row: PaymentRow;
  readonly caip2: string;
  readonly contract: string | null;
  readonly decimals: number;
  /** Base units. */
  readonly amount: bigint;
};

/** The payment's own token. */
export const ownItem = (row: PaymentRow): SweepItem => {
  const { caip2, contract, decimals } = row;
  return { row, caip2, contract, decimals, amount: heldBy(row) };
};

/** A tampered row has another treasury or address: sweeping it would do nothing, or not what it says. */
const isAuthentic = (context: Context, row: PaymentRow): boolean => {
  try {
    assertAuthentic(context, row);
    return true;
  } catch (error) {
    if (error instanceof TamperedPayment) return false;
    throw error;
  }
};

export type Batch = { readonly caip2: string; readonly data: string; readonly items: readonly SweepItem[] };

/** Each batch is one transaction: forwarders of one treasury and one token. */
export const batchesOf = (context: Context, scope: Scope, items: readonly SweepItem[]): Batch[] => {
  const authentic = items.filter(({ row }) => isAuthentic(context, row));
  const groups = Map.groupBy(authentic, ({ caip2, contract, row }) => `${caip2} ${contract} ${row.treasury}`);
  return [...groups.values()].flatMap(group => {
    const batches: Batch[] = [];
    for (let at = 0; at < group.length; at += paymentsInSweep) {
      const some = group.slice(at, at + paymentsInSweep);
      const { caip2, contract, row } = some[0]!;
      const salts = some.map(item => context.vault.salt(scope, BigInt(item.row.derivationIndex)));
      batches.push({ caip2, data: encodeSweep({ treasury: row.treasury, token: contract, salts }), items: some });
    }
    return batches;
  });
};

const wordDigits = 64;

/** The factory's answer to a sweep: how much each item forwards. Null if it is not such a list. */
const readAmounts = (answer: string, count: number): bigint[] | null => {
  const words = answer.slice(2).match(/.{64}/g) ?? [];
  if (answer.length !== 2 + wordDigits * (count + 2)) return null;
  return words.slice(2).map(word => BigInt(`0x${word}`));
};

/**
 * Items that would not move now, such as addresses that a token has blocked. A node executes the sweep without sending
 * it. Empty if no node answers.
 */
export const failingItems = async (context: Context, batches: readonly Batch[]): Promise<ReadonlySet<SweepItem>> => {
  const failing = await Promise.all(
    batches.map(async ({ caip2, data, items }) => {
      const answer = await context.callContract(caip2, { to: forwarderFactory, data });
      const amounts = answer === null ? null : readAmounts(answer, items.length);
      return amounts === null ? [] : items.filter((_, at) => amounts[at] === 0n);
    }),
  );
  return new Set(failing.flat());
};
