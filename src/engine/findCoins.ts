import type { Block, Movement } from '../core/chain.ts';
import type { CoinPayment } from '../storage/coins.ts';

/** Balances of native coin at a block; null where no node has that block's state any more. */
export type CoinBalances = (
  block: Pick<Block, 'number' | 'hash'>,
  holders: readonly string[],
) => Promise<ReadonlyMap<string, bigint> | null>;

export type FoundCoin = Movement & { readonly blockHash: string; readonly blockNumber: number };

/** Nodes keep the states of some hundred blocks. */
const searchedBlocks = 120;

/** What an address should hold at a height by all that is on record. */
const recordedAt = ({ changes }: CoinPayment, number: number): bigint =>
  changes.reduce((sum, change) => (change.blockNumber <= number ? sum + BigInt(change.amount) : sum), 0n);

type Gap = { readonly block: Block; readonly amount: bigint };
type Options = { readonly balances: CoinBalances; readonly stored: (number: number) => Promise<Block | null> };

/** How much more the address holds at a block than is on record, or that the state of that block is gone. */
const gapAt = async (payment: CoinPayment, block: Block, { balances }: Options): Promise<Gap | 'none' | 'gone'> => {
  const balance = (await balances(block, [payment.address]))?.get(payment.address);
  if (balance === undefined) return 'gone';
  const amount = balance - recordedAt(payment, block.number);
  return amount > 0n ? { block, amount } : 'none';
};

/**
 * The lowest block at which the address holds more than is on record, and how much. More may have come in later ones.
 * Where states are gone it is a later block, never an earlier, and its finality comes later, too. Null where the head is
 * gone as well: then it is the node that has left this branch.
 */
const firstGap = async (payment: CoinPayment, atHead: Gap, options: Options): Promise<Gap | null> => {
  let found = atHead;
  let isAnyGone = false;
  let low = Math.max(0, atHead.block.number - searchedBlocks);
  while (low < found.block.number) {
    const middle = Math.floor((low + found.block.number) / 2);
    const block = await options.stored(middle);
    const gap = block === null ? 'none' : await gapAt(payment, block, options);
    if (gap === 'gone') isAnyGone = true;
    if (typeof gap === 'object') found = gap;
    else low = middle + 1;
  }
  return isAnyGone && (await gapAt(payment, atHead.block, options)) === 'gone' ? null : found;
};

/**
 * Native coin that contracts sent shows in no log and in no transaction, but in the balance: what an address holds, and
 * has forwarded, beyond all that is on record has come that way. Null where no node can say what they hold at the head.
 */
export const findCoins = async (
  payments: readonly CoinPayment[],
  head: Block,
  options: Options,
): Promise<readonly FoundCoin[] | null> => {
  if (payments.length === 0) return [];
  const balances = await options.balances(
    head,
    payments.map(({ address }) => address),
  );
  if (balances === null) return null;
  const found: FoundCoin[] = [];
  for (const payment of payments) {
    const { address } = payment;
    // All of it, block by block: on a chain that rests there is no next time. Each block is found once, unless the node
    // says something else each time.
    const changes = [...payment.changes];
    for (let blocks = 0; blocks <= searchedBlocks; blocks++) {
      const more = balances.get(address)! - recordedAt({ ...payment, changes }, head.number);
      if (more <= 0n) break;
      const gap = await firstGap({ ...payment, changes }, { block: head, amount: more }, options);
      if (gap === null) return null;
      const { block, amount } = gap;
      changes.push({ blockNumber: block.number, amount: amount.toString() });
      found.push({
        // With the amount: what is found in the same block another time is another conclusion.
        key: `${block.hash}:delta:${address}:${amount}`,
        txHash: null,
        from: null,
        to: address,
        contract: null,
        amount,
        verified: true,
        blockHash: block.hash,
        blockNumber: block.number,
      });
    }
  }
  return found;
};
