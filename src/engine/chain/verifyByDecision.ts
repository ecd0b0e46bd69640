import { FlorinError } from '../../core/errors.ts';
import { formatAmount, mostUnits } from '../../core/money.ts';
import {
  lockTransfer,
  recordDecision,
  type UnverifiedTransfer,
  wakeNow,
} from '../../storage/chain/transferDecisions.ts';
import { verifyTransfers } from '../../storage/chain/transferSeals.ts';
import { settleForwards } from '../../storage/settlement/holdings.ts';
import type { AdminContext } from '../access/accounts.ts';
import { operatorActing } from '../audit/acting.ts';
import { perform } from '../perform.ts';
import { type Decision, requireDecision } from './decision.ts';

/**
 * Some transfers can never be verified, for example because a node lacks the state or the receipts of an old block.
 * The operator who has looked at the chain may call one real. The decision is recorded for good, with an audit row, and
 * the payment is decided again by the process that runs.
 */
export const verifyByDecision = async (
  context: AdminContext,
  { caip2, key }: { readonly caip2: string; readonly key: string },
  given: Decision,
): Promise<UnverifiedTransfer> => {
  const { by, reason } = requireDecision(given);
  return perform(context, operatorActing(null), null, async tx => {
    const transfer = await lockTransfer(tx, caip2, key);
    if (!transfer) throw new FlorinError('not_found', `Florin has recorded no transfer ${key} on ${caip2}.`);
    const refuse = (why: string): never => {
      throw new FlorinError('conflict', why);
    };
    if (transfer.verified) refuse('The transfer is verified already.');
    if (!transfer.canonical) refuse('The transfer is not on the chain: a reorg removed its block.');
    if (transfer.stray) refuse('The transfer is not in the token and network of its payment. It never counts.');
    if (BigInt(transfer.amount) >= mostUnits) refuse('The contract reports more than any amount. It cannot be real.');
    const { accountId, environment, paymentId, txHash, amount, decimals, currency } = transfer;
    await recordDecision(tx, transfer, { by, reason });
    const forged = await verifyTransfers(tx, context.vault, caip2, [key]);
    if (forged.length > 0) refuse('The transfer was changed in the database. Run florin doctor.');
    // A sweep may have moved it already, as funds that were found.
    await settleForwards(tx, caip2, { at: [] }, [{ accountId, environment, id: paymentId }]);
    await wakeNow(tx, { accountId, environment, id: paymentId });
    const sum = `${formatAmount(BigInt(amount), decimals)} ${currency}`;
    const detail = { caip2, key, txHash, amount: sum, by, reason };
    const scope = { accountId, environment };
    return { value: transfer, deed: { action: 'payment.transfer_verified', subject: paymentId, detail, in: scope } };
  });
};
