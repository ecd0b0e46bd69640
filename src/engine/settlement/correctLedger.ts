import { FlorinError } from '../../core/errors.ts';
import { correctDifference, type DifferenceRow, lockDifference } from '../../storage/settlement/differences.ts';
import { settleForwards } from '../../storage/settlement/holdings.ts';
import type { AdminContext } from '../access/accounts.ts';
import { operatorActing } from '../audit/acting.ts';
import { type Decision, requireDecision } from '../chain/decision.ts';
import { perform } from '../perform.ts';

/**
 * The operator has looked at the chain and enters what the records lack, or have too much of. The entry is kept for good,
 * with an audit row. It changes the ledger and what sweeps take, and never the state of the payment.
 */
export const correctLedger = async (
  context: AdminContext,
  asked: { readonly id: string; readonly amount: bigint },
  given: Decision,
): Promise<DifferenceRow> => {
  const { by, reason } = requireDecision(given);
  return perform(context, operatorActing(null), null, async tx => {
    const difference = await lockDifference(tx, asked.id);
    if (!difference) throw new FlorinError('not_found', `There is no open difference ${asked.id}.`);
    if (BigInt(difference.amount) !== asked.amount)
      throw new FlorinError('conflict', `The difference is ${difference.amount} base units now. Look at it again.`);
    if (!difference.isCurrent)
      throw new FlorinError('conflict', 'The records have changed since. Run florin ledger check and look again.');
    const { accountId, environment, paymentId, caip2, contract, amount, blockNumber } = difference;
    await correctDifference(tx, asked.id, { by, reason });
    await settleForwards(tx, caip2, { at: [] }, [{ accountId, environment, id: paymentId }]);
    const detail = { caip2, contract, amount, block: blockNumber, by, reason };
    const scope = { accountId, environment };
    return { value: difference, deed: { action: 'ledger.corrected', subject: paymentId, detail, in: scope } };
  });
};
