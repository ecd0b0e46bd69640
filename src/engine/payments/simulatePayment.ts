import { setTimeout as pause } from 'node:timers/promises';
import type { Scope } from '../../core/environment.ts';
import { FlorinError } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import type { SimulatedOutcome } from '../../core/payment/simulatedOutcomes.ts';
import { readPayments, type ShownPayment } from '../../storage/payments/payments.ts';
import type { Context, LocalChain } from '../context.ts';
import { type Answer, type IdempotentRequest, idempotentlyHeld } from '../idempotency.ts';
import { advancePayment } from './advancePayment.ts';
import { assertAuthentic } from './paymentAddress.ts';
import { noSuchPayment } from './readPayment.ts';

/** The missing sum, or the whole amount if nothing is missing. */
const restOf = ({ amount, amountReceived }: ShownPayment): bigint => {
  const missing = BigInt(amount) - BigInt(amountReceived);
  return missing > 0n ? missing : BigInt(amount);
};

const wrongToken = (context: Context, row: ShownPayment): { token: string | null; amount: bigint } => {
  const network = context.networks.configured(row.environment, row.network);
  const other = network?.currencies.find(({ contractAddress }) => contractAddress !== row.contract);
  if (!other) throw new FlorinError('conflict', 'This network has no other currency to send.');
  return { token: other.contractAddress, amount: 10n ** BigInt(other.decimals) };
};

/**
 * Ends the payment's time with a recorded fact. Then waits until the chain's clock, which counts seconds, is past it: a
 * block of the same second would still be in time.
 */
const endTime = async (context: Context, scope: Scope, id: string): Promise<void> => {
  const ended = await context.db.transaction(tx =>
    advancePayment(context, tx, scope, id, {
      act: (facts, nowMs) => ({ timeEndedAt: facts.actions.timeEndedAt ?? nowMs }),
    }),
  );
  const endMs = Math.min(ended!.row.expiresAt.getTime(), ended!.row.timeEndedAt!.getTime());
  const nextSecondMs = (Math.floor(endMs / 1000) + 1) * 1000;
  await pause(Math.min(Math.max(0, nextSecondMs - context.clock.nowMs()), 2_000));
};

type Sent = { readonly token: string | null; readonly amount: bigint };

const send = (chain: LocalChain, row: ShownPayment, { token, amount }: Sent): Promise<string> =>
  chain.pay({ to: row.address, token, amount });

/** Undoes the payment's latest transaction, or one sent for this purpose. */
const undo = async (chain: LocalChain, row: ShownPayment): Promise<string> => {
  const latest = row.transfers?.findLast(transfer => !transfer.stray && transfer.txHash !== null)?.txHash;
  const hash = latest ?? (await send(chain, row, { token: row.contract, amount: restOf(row) }));
  await chain.undo(hash);
  return hash;
};

const perform = async (context: Context, chain: LocalChain, row: ShownPayment, outcome: SimulatedOutcome) => {
  const rest = restOf(row);
  const amounts: Partial<Record<SimulatedOutcome, bigint>> = {
    underpaid: rest > 1n ? rest / 2n : rest,
    overpaid: rest + BigInt(row.amount) / 10n + 1n,
  };
  if (outcome === 'reorg') return undo(chain, row);
  if (outcome === 'late') await endTime(context, row, row.id);
  if (outcome === 'wrong_token') return send(chain, row, wrongToken(context, row));
  return send(chain, row, { token: row.contract, amount: amounts[outcome] ?? rest });
};

/** Simulates an outcome of a sandbox payment with real transactions on the local chain. */
export const simulatePayment = async (
  context: Context,
  scope: Scope,
  id: string,
  outcome: SimulatedOutcome,
  idempotency: IdempotentRequest | null,
): Promise<Answer> => {
  const [row] = isId('payment', id) ? await readPayments(context.db, [{ scope, id }]) : [];
  const chain = context.localChain;
  if (!row || chain === null || scope.environment !== 'sandbox' || row.caip2 !== chain.caip2) throw noSuchPayment();
  assertAuthentic(context, row);
  return idempotentlyHeld(context, scope, idempotency, async () => {
    const transaction = await perform(context, chain, row, outcome);
    return { body: JSON.stringify({ outcome, transaction }) };
  });
};
