import type { PaymentKey } from '../../core/paymentKey.ts';
import { readChains } from '../../storage/chain/chains.ts';
import { hasOpenRescan, insertRescan } from '../../storage/chain/rescans.ts';
import type { Queryable } from '../../storage/database.ts';
import { type ChangedForwards, settleForwards } from '../../storage/settlement/holdings.ts';
import type { Context } from '../context.ts';

/**
 * Settles the sweeps of payments after their facts changed. `touched`: payments with forwards or corrections. If a sweep moved more than was recorded, transfers were missed:
 * the excess is a found credit, and for tokens the blocks since the payment's creation are read again.
 */
export const settleSweeps = async (
  { log }: Pick<Context, 'log'>,
  tx: Queryable,
  caip2: string,
  changed: ChangedForwards,
  touched: readonly PaymentKey[],
): Promise<void> => {
  const found = await settleForwards(tx, caip2, changed, touched);
  if (found.length === 0) return;
  const [chain] = await readChains(tx, [caip2]);
  const to = chain!.latestNumber!;
  for (const { accountId, id: paymentId, contract, amount, address, createdAt } of found) {
    log.error({ caip2, paymentId, accountId, contract, amount }, 'a sweep moved more than was recorded');
    // No block shows coin that a contract sent. The balances of the address do, and they are read anyway.
    if (contract === null) continue;
    if (!(await hasOpenRescan(tx, caip2, address)))
      await insertRescan(tx, { caip2, from: createdAt, to, address, reason: 'a sweep moved more than was recorded' });
  }
};
