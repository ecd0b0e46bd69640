import { type Block, clockSlackMs, type Movement, type WatchedBlock } from '../../core/chain.ts';
import { coinKey } from '../../core/coinKey.ts';
import type { CoinPayment } from '../../storage/chain/coins.ts';

/** Native coin balances at a block; null if too few nodes have that block's state. */
export type CoinBalances = (
  block: Pick<Block, 'number' | 'hash'>,
  holders: readonly string[],
) => Promise<ReadonlyMap<string, bigint> | null>;

/** The most blocks in which coin of one payment is found in one turn. */
const maxBlocks = 120;

/** What an address should hold at a height according to the records. */
export const recordedAt = ({ changes }: CoinPayment, number: number): bigint =>
  changes.reduce((sum, change) => (change.blockNumber <= number ? sum + BigInt(change.amount) : sum), 0n);

/** The same without the baseline, as the ledger says it. A difference can be corrected only while this has not changed. */
export const bookedAt = ({ changes }: CoinPayment, number: number): bigint =>
  changes.reduce(
    (sum, change) => (change.blockNumber > 0 && change.blockNumber <= number ? sum + BigInt(change.amount) : sum),
    0n,
  );

/** What transfers have brought up to a height. */
const receivedAt = ({ changes }: CoinPayment, number: number): bigint =>
  changes.reduce(
    (sum, { source, blockNumber, amount }) =>
      (source === 'transaction' || source === 'balance') && blockNumber <= number ? sum + BigInt(amount) : sum,
    0n,
  );

/** The highest block in which coin was found by balance. That balance includes all earlier coin. */
const lastFound = ({ changes }: CoinPayment): number =>
  changes.reduce((last, { source, blockNumber }) => (source === 'balance' ? Math.max(last, blockNumber) : last), 0);

type Gap = { readonly block: Block; readonly amount: bigint };
type Options = {
  readonly balances: CoinBalances;
  /** The same, but what the node shows that shows most: older coin must not be hidden by one that leaves it out. */
  readonly olderBalances: CoinBalances;
  /** The canonical block at a height; null if the nodes cannot tell now. */
  readonly blockAt: (number: number) => Promise<Block | null>;
  /** The lowest height that is searched: no payment is older. Nodes may have dropped the blocks below. */
  readonly from: () => Promise<number>;
};
/** Coin at an address that is not credited. */
export type DoubtedCoin = { readonly payment: CoinPayment; readonly amount: bigint };
export type CoinSearch = {
  /** Blocks with one movement each. A block in which several payments got coin repeats. */
  readonly found: readonly WatchedBlock[];
  /** Coin whose block cannot be found now. */
  readonly unsearched: readonly DoubtedCoin[];
};

/** How much more the address holds at a block than recorded. `gone`: the state of that block is no longer available. */
const gapAt = async (payment: CoinPayment, block: Block, { balances }: Options): Promise<Gap | 'none' | 'gone'> => {
  const balance = (await balances(block, [payment.address]))?.get(payment.address);
  if (balance === undefined) return 'gone';
  const amount = balance - recordedAt(payment, block.number);
  return amount > 0n ? { block, amount } : 'none';
};

const isOlder = (block: Block, { createdAt, headNumber }: CoinPayment): boolean =>
  block.timestamp * 1000 < createdAt.getTime() - clockSlackMs && block.number <= (headNumber ?? block.number);

/**
 * The height from which a payment is searched, in doubling steps down from the head: nodes may have dropped old blocks,
 * which a young payment does not need. `isKnown`: the block below is older than the payment, or was never read.
 */
const startOf = async (
  payment: CoinPayment,
  head: Block,
  { blockAt, from }: Options,
): Promise<{ readonly start: number; readonly isKnown: boolean }> => {
  const first = await from();
  for (let step = 1; head.number - step > first; step *= 2) {
    const block = await blockAt(head.number - step);
    if (block === null) return { start: head.number - step + 1, isKnown: false };
    if (isOlder(block, payment)) return { start: block.number + 1, isKnown: true };
  }
  return { start: first, isKnown: true };
};

/**
 * The lowest block since the creation of the payment at which the address holds more than recorded, and how much more.
 * It is found by halving, so that the number of requests is bounded. Later blocks may add more. If states are gone, the
 * result is a later block, never an earlier one, so it becomes final later. `unknown`: a block cannot be told, and guessing
 * would call coin late that came in time. `left`: the head's state is gone too, so the node has left this branch.
 */
const firstGap = async (payment: CoinPayment, atHead: Gap, options: Options): Promise<Gap | 'unknown' | 'left'> => {
  const { start, isKnown } = await startOf(payment, atHead.block, options);
  let found = atHead;
  let isAnyGone = false;
  // Below the last find nothing is missing. It may be higher than its coin, for want of older states that are there by now.
  let low = Math.max(start, lastFound(payment));
  while (low < found.block.number) {
    const middle = Math.floor((low + found.block.number) / 2);
    const block = await options.blockAt(middle);
    if (block === null) return 'unknown';
    // The payment did not exist before, so there is no state to ask for.
    const gap = isOlder(block, payment) ? 'none' : await gapAt(payment, block, options);
    if (gap === 'gone') isAnyGone = true;
    if (typeof gap === 'object') found = gap;
    else low = middle + 1;
  }
  if (isAnyGone && (await gapAt(payment, atHead.block, options)) === 'gone') return 'left';
  return found.block.number === start && !isKnown ? 'unknown' : found;
};

/**
 * What an address of an extended public key held beyond the records in the block before, if that is older than the payment:
 * its baseline may be some minutes old by then. Nobody could know a forwarder's address. `unknown`: the nodes cannot tell
 * now, and guessing would credit older coin.
 */
const olderGap = async (
  payment: CoinPayment,
  { number }: Block,
  options: Options,
): Promise<Gap | 'none' | 'unknown'> => {
  if (payment.walletKind === 'forwarder' || number === 0) return 'none';
  const before = await options.blockAt(number - 1);
  if (before === null) return 'unknown';
  if (!isOlder(before, payment)) return 'none';
  const gap = await gapAt(payment, before, { ...options, balances: options.olderBalances });
  return gap === 'gone' ? 'unknown' : gap;
};

/**
 * Native coin sent by a contract appears in no log and no transaction, only in the balance. The missing sum is what an
 * address holds and has forwarded, minus what is recorded. Null if no node reports the balances at the head.
 */
export const findCoins = async (
  payments: readonly CoinPayment[],
  head: Block,
  options: Options,
): Promise<CoinSearch | null> => {
  if (payments.length === 0) return { found: [], unsearched: [] };
  const balances = await options.balances(
    head,
    payments.map(({ address }) => address),
  );
  if (balances === null) return null;
  const found: WatchedBlock[] = [];
  const unsearched: DoubtedCoin[] = [];
  for (const payment of payments) {
    const { address } = payment;
    // All missing sums are found now, block by block: a quiet chain may not give another chance. Each block is found
    // once, unless the node keeps changing its answers.
    const changes = [...payment.changes];
    for (let blocks = 0; blocks <= maxBlocks; blocks++) {
      const more = balances.get(address)! - recordedAt({ ...payment, changes }, head.number);
      if (more <= 0n) break;
      const gap = await firstGap({ ...payment, changes }, { block: head, amount: more }, options);
      if (gap === 'left') return null;
      const older = gap === 'unknown' ? gap : await olderGap({ ...payment, changes }, gap.block, options);
      if (gap === 'unknown' || older === 'unknown') {
        unsearched.push({ payment, amount: more });
        break;
      }
      if (older !== 'none') {
        changes.push({ blockNumber: older.block.number, amount: older.amount.toString(), source: 'baseline' });
        continue;
      }
      const { block, amount } = gap;
      changes.push({ blockNumber: block.number, amount: amount.toString(), source: 'balance' });
      const movement: Movement = {
        key: coinKey(block.hash, address, amount, receivedAt({ ...payment, changes }, block.number)),
        txHash: null,
        from: null,
        to: address,
        contract: null,
        amount,
        verified: true,
      };
      found.push({ ...block, movements: [movement], forwards: [] });
    }
  }
  return { found, unsearched };
};
