import type { FundsDifference, UnclaimedFunds } from '../../core/api/moneyApi.ts';
import type { Scope } from '../../core/environment.ts';
import { accountDifferences } from '../../storage/settlement/differences.ts';
import { listUnclaimed } from '../../storage/settlement/unclaimed.ts';
import type { Context } from '../context.ts';
import { tokenText } from '../payments/tokenText.ts';

const shownFunds = 100;

/** Funds that arrived for payments that a restore lost, newest first. */
export const readUnclaimed = async (context: Context, scope: Scope): Promise<UnclaimedFunds[]> => {
  const rows = await listUnclaimed(context.listDb, scope, shownFunds);
  return rows.map(({ address, txHash, firstSeenAt, ...token }) => ({
    ...tokenText(context, token),
    address,
    txHash,
    at: firstSeenAt.toISOString(),
  }));
};

/** Addresses that hold more or less than the records say, oldest first. */
export const readDifferences = async (context: Context, scope: Scope): Promise<FundsDifference[]> => {
  const rows = await accountDifferences(context.listDb, scope, shownFunds);
  return rows.map(({ paymentId, address, seenAt, ...token }) => ({
    paymentId,
    ...tokenText(context, token),
    address,
    at: seenAt.toISOString(),
  }));
};
