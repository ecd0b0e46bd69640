import type { BalanceSources } from '../chains/driver.ts';
import { RpcFault } from '../chains/evm/rpc.ts';
import type { Block } from '../core/chain.ts';
import { applyCoins } from '../engine/applyCoins.ts';
import { type FoundCoin, findCoins } from '../engine/findCoins.ts';
import { storedBlock } from '../storage/blocks.ts';
import type { CoinPayment } from '../storage/coins.ts';
import type { ChainSources } from './chainSources.ts';
import { type DoubtedCoin, readUnbaselined } from './unbaselined.ts';

const sumTo = (coins: readonly FoundCoin[], address: string): bigint =>
  coins.reduce((sum, { to, amount }) => (to === address ? sum + amount : sum), 0n);

/**
 * Reads the native coin of addresses at the head, and writes what no transaction explains. Few addresses have received
 * anything, and a balance is the only evidence. So `first` may be one node, and those addresses are checked again with
 * as many nodes as must agree. Null if the balances cannot be read.
 */
export const readCoinPage = async (
  { context, driver, lease }: ChainSources,
  page: readonly CoinPayment[],
  head: Block,
  first: BalanceSources,
  signal: AbortSignal,
): Promise<readonly DoubtedCoin[] | null> => {
  /** Empty blocks deeper than 256 are not stored. Guessing would call coin late that came in time. */
  const blockAt = async (number: number): Promise<Block> => {
    const block = (await storedBlock(context.db, lease.caip2, number)) ?? (await driver.header(number, signal));
    if (block === null) throw new RpcFault('malformed', undefined, 'Too few nodes report the same block.');
    return block;
  };
  const find = (payments: readonly CoinPayment[], sources: BalanceSources) =>
    findCoins(payments, head, {
      balances: (block, holders) => driver.balances({ token: null, holders, block }, sources, signal),
      blockAt,
    });
  const credited = page.filter(({ baseline }) => baseline === 'empty' || baseline === 'known');
  const unbaselined = await readUnbaselined({ context, driver, lease }, page, head, signal);
  if (unbaselined === null) return null;
  const shown = await find(credited, first);
  if (shown === null) return null;
  const addresses = new Set(shown.map(({ to }) => to));
  const suspected = credited.filter(({ address }) => addresses.has(address));
  const found = await find(suspected, 'lowest');
  if (found === null) return null;
  if (found.length > 0) await applyCoins(context, lease, found);
  const disputed = suspected.flatMap(payment => {
    const amount = sumTo(shown, payment.address) - sumTo(found, payment.address);
    return amount > 0n ? [{ payment, amount }] : [];
  });
  return [...unbaselined, ...disputed];
};
