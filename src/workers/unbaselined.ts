import type { Block } from '../core/chain.ts';
import { type DoubtedCoin, recordedAt } from '../engine/chain/findCoins.ts';
import { insertBaselines } from '../storage/chain/baselines.ts';
import type { CoinPayment } from '../storage/chain/coins.ts';
import { readNow } from '../storage/databaseClock.ts';
import type { ChainSources } from './chainSources.ts';
import { reportDifferences } from './reportDifferences.ts';

/**
 * Addresses of an extended public key whose balance was not read before their payment existed. The first balance becomes
 * a later baseline. It may include coin for the payment, so what comes on top is unexplained and not credited. Null if
 * the balances cannot be read.
 */
export const readUnbaselined = async (
  { context, driver, lease }: ChainSources,
  page: readonly CoinPayment[],
  head: Block,
  signal: AbortSignal,
): Promise<readonly DoubtedCoin[] | null> => {
  const payments = page.filter(({ baseline }) => baseline === 'none' || baseline === 'later');
  if (payments.length === 0) return [];
  const holders = payments.map(({ address }) => address);
  const balances = await driver.balances({ token: null, holders, block: head }, 'lowest', signal);
  if (balances === null) return null;
  const beyond = (payment: CoinPayment): bigint => balances.get(payment.address)! - recordedAt(payment, head.number);
  const first = payments.filter(({ baseline }) => baseline === 'none');
  await insertBaselines(context.db, context.vault, lease.caip2, {
    balances: first.map(payment => ({ address: payment.address, amount: beyond(payment) > 0n ? beyond(payment) : 0n })),
    blockNumber: head.number,
    readAt: await readNow(context.db),
  });
  const doubted = payments.flatMap(payment => {
    const amount = payment.laterBaseline === null ? 0n : beyond(payment) - BigInt(payment.laterBaseline);
    return amount > 0n ? [{ payment, amount }] : [];
  });
  const at = { contract: null, blockNumber: head.number };
  await reportDifferences(
    context,
    lease.caip2,
    doubted.map(({ payment: key, amount }) => ({ key, amount, recorded: recordedAt(key, head.number), ...at })),
  );
  return doubted;
};
