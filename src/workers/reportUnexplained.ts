import type { Context } from '../engine/context.ts';
import { type Unexplained, writeUnexplained } from '../storage/unexplainedFunds.ts';

/** Records funds that no transfer explains, and logs those that are new. They are never credited by themselves. */
export const reportUnexplained = async (
  { db, log }: Pick<Context, 'db' | 'log'>,
  caip2: string,
  funds: readonly Unexplained[],
): Promise<void> => {
  const isNew = new Set(await writeUnexplained(db, caip2, funds));
  for (const { key, contract, amount, blockNumber } of funds) {
    if (!isNew.has(key.id)) continue;
    const { id: paymentId, accountId } = key;
    log.error(
      { caip2, paymentId, accountId, contract, amount: amount.toString(), block: blockNumber },
      'an address holds funds that no transfer explains',
    );
  }
};
