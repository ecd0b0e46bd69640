import type { BalanceSources } from '../chains/driver.ts';
import type { Block, Movement, WatchedBlock } from '../core/chain.ts';
import { applyCoins } from '../engine/chain/applyCoins.ts';
import { type CoinBalances, type CoinSearch, type DoubtedCoin, findCoins } from '../engine/chain/findCoins.ts';
import { storedBlock } from '../storage/chain/blocks.ts';
import { readChains } from '../storage/chain/chains.ts';
import type { CoinPayment } from '../storage/chain/coins.ts';
import type { ChainSources } from './chainSources.ts';
import { readUnbaselined } from './unbaselined.ts';

const movementsOf = (blocks: readonly WatchedBlock[]): readonly Movement[] => blocks.flatMap(block => block.movements);

/** What was found at an address. What was not searched is not part of it. */
const sumTo = ({ found }: CoinSearch, address: string): bigint =>
  movementsOf(found).reduce((sum, { to, amount }) => (to === address ? sum + amount : sum), 0n);

/** Their coin is not searched for: what is missing follows from records that Florin did not write. */
export const noticeForged = ({ context, lease }: ChainSources, forged: readonly CoinPayment[]): void =>
  context.log.error(
    { forged: 'addresses', caip2: lease.caip2, payments: forged.map(({ id }) => id) },
    'records of addresses were changed in the database: run florin doctor',
  );

/**
 * Reads the native coin of addresses at the head, and writes what no transaction explains. Few addresses have received
 * anything, and a balance is the only evidence. So `first` may be one node, and those addresses are checked again with
 * as many nodes as must agree. Null if the balances cannot be read.
 */
export const readCoinPage = async (
  sources: ChainSources,
  payments: readonly CoinPayment[],
  head: Block,
  first: BalanceSources,
  signal: AbortSignal,
): Promise<readonly DoubtedCoin[] | null> => {
  const { context, driver, lease } = sources;
  const { true: forged = [], false: page = [] } = Object.groupBy(payments, ({ isForged }) => `${isForged}`);
  if (forged.length > 0) noticeForged(sources, forged);
  /** Empty blocks deeper than 256 are not stored. */
  const blockAt = async (number: number): Promise<Block | null> =>
    (await storedBlock(context.db, context.vault, lease.caip2, number)) ?? (await driver.header(number, signal));
  const balancesFrom =
    (nodes: BalanceSources): CoinBalances =>
    (block, holders) =>
      driver.balances({ token: null, holders, block }, nodes, signal);
  const find = (some: readonly CoinPayment[], nodes: BalanceSources) =>
    findCoins(some, head, {
      balances: balancesFrom(nodes),
      olderBalances: balancesFrom('highest'),
      blockAt,
      from: async () => (await readChains(context.db, [lease.caip2]))[0]?.startNumber ?? 0,
    });
  const credited = page.filter(({ baseline }) => baseline === 'empty' || baseline === 'known');
  const unbaselined = await readUnbaselined(sources, page, head, signal);
  if (unbaselined === null) return null;
  const shown = await find(credited, first);
  if (shown === null) return null;
  const addresses = new Set([
    ...movementsOf(shown.found).map(({ to }) => to),
    ...shown.unsearched.map(each => each.payment.address),
  ]);
  const suspected = credited.filter(({ address }) => addresses.has(address));
  const agreed = await find(suspected, 'lowest');
  if (agreed === null) return null;
  if (agreed.found.length > 0) await applyCoins(context, lease, agreed.found);
  const unsearched = new Set(agreed.unsearched.map(({ payment }) => payment.id));
  const disputed = suspected.flatMap(payment => {
    if (unsearched.has(payment.id)) return [];
    const amount = sumTo(shown, payment.address) - sumTo(agreed, payment.address);
    return amount > 0n ? [{ payment, amount }] : [];
  });
  if (unsearched.size > 0) {
    const { caip2 } = lease;
    context.log.warn(
      { caip2, payments: [...unsearched] },
      'coin cannot be credited: too few nodes report the blocks since its payment',
    );
  }
  return [...unbaselined, ...disputed, ...agreed.unsearched];
};
