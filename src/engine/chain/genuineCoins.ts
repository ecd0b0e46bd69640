import { type BranchLine, isLost } from '../../core/payment/branches.ts';
import { genuineBlockOf } from '../../storage/chain/blockSeals.ts';
import type { CoinPayment } from '../../storage/chain/coins.ts';
import type { StoredForward } from '../../storage/settlement/forwardSeals.ts';
import type { Context } from '../context.ts';
import { readBranchedMoment } from './branchedMoment.ts';

const isGone = ({ vault }: Pick<Context, 'vault'>, forward: StoredForward, line: BranchLine | null): boolean => {
  const block = genuineBlockOf(vault, forward);
  return line === null || block === null || isLost(block, line);
};

/**
 * Addresses that `read` gives, with their records held against the branches of the chain. A forward whose orphaned block somebody put back says
 * that coin left which is there, or left twice: the balance would seem to have more than the records. One that is missing makes
 * the records say more than there is, so nothing is credited.
 */
export const readGenuineCoins = async <P extends CoinPayment>(
  context: Pick<Context, 'vault' | 'db'>,
  caip2: string,
  read: () => Promise<readonly P[]>,
): Promise<readonly P[]> => {
  // Before the addresses: a reorganization that comes between takes forwards which are right here, and none that is on the chain.
  const { chains } = await readBranchedMoment(context, context.db, new Map([[caip2, true]]));
  const chain = chains.get(caip2);
  const payments = await read();
  if (chain?.branch === null && chain.branches.length === 0) return payments;
  const line = chain?.line ?? null;
  return payments.map(payment => {
    const isForged = payment.isForged || payment.forwards.some(forward => isGone(context, forward, line));
    return { ...payment, isForged };
  });
};
