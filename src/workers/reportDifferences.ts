import type { Context } from '../engine/context.ts';
import { type Difference, writeDifferences } from '../storage/settlement/differences.ts';

/** Records differences between addresses and their records, and logs new ones. They are never credited by themselves. */
export const reportDifferences = async (
  { db, log }: Pick<Context, 'db' | 'log'>,
  caip2: string,
  differences: readonly Difference[],
): Promise<void> => {
  const isNew = new Set(await writeDifferences(db, caip2, differences));
  for (const { key, contract, amount, blockNumber } of differences) {
    if (!isNew.has(key.id)) continue;
    const { id: paymentId, accountId } = key;
    log.error(
      { caip2, paymentId, accountId, contract, amount: amount.toString(), block: blockNumber },
      amount > 0n ? 'an address holds funds that no transfer explains' : 'an address holds less than was recorded',
    );
  }
};
