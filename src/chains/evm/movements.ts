import type { Forward, Movement, WatchedBlock } from '../../core/chain.ts';
import { mostUnits } from '../../core/money.ts';
import { readBalances } from './balances.ts';
import {
  addressOfTopic,
  type CoinMove,
  type LogEntry,
  readForwarded,
  readLog,
  readTransfer,
  type TokenTransfer,
} from './block.ts';
import { provenLogs } from './blockReceipts.ts';
import type { LoggedBlock } from './fetchBlocks.ts';
import { type EvmNode, isStateGone } from './node.ts';
import { readHash, readList, readNumber, readObject } from './reading.ts';
import { RpcFault } from './rpc.ts';

type FindPaymentAddresses = (addresses: readonly string[]) => Promise<ReadonlySet<string>>;

/** What a block moved, as far as listed tokens and plain transactions go. */
type Found = {
  readonly transfers: readonly TokenTransfer[];
  readonly coins: readonly CoinMove[];
  readonly forwards: readonly Forward[];
};

const missing = (what: string): RpcFault => new RpcFault('malformed', undefined, `The node left out ${what}.`);

/** A contract may report any number. What is recorded of a larger one is not what it says, so it is never verified. */
const isPlausible = ({ amount }: { readonly amount: bigint }): boolean => amount <= mostUnits;

/** Anybody can sweep a token of their own making from a forwarder, so only listed tokens count, and native coin. */
const forwardsOf = (block: LoggedBlock, listed: ReadonlySet<string>): readonly Forward[] =>
  block.logs.flatMap(log => {
    const forwarded = readForwarded(log);
    if (forwarded === null || forwarded.amount === 0n) return [];
    const isListed = forwarded.contract === null || listed.has(forwarded.contract);
    return isListed ? [{ ...forwarded, verified: isPlausible(forwarded) }] : [];
  });

const tokenTransfers = (block: LoggedBlock, listed: ReadonlySet<string>): readonly TokenTransfer[] =>
  block.logs.flatMap(log => {
    const transfer = listed.has(log.contract) ? readTransfer(log) : null;
    // Anybody can log a zero transfer in anybody's name, and a transfer to oneself brings nothing.
    return transfer === null || transfer.amount === 0n || transfer.sender === transfer.recipient ? [] : [transfer];
  });

type Receipt = { readonly blockHash: string; readonly succeeded: boolean; readonly logs: readonly unknown[] };

const fetchReceipts = async (
  node: EvmNode,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Receipt>> => {
  const unique = [...new Set(hashes)];
  if (unique.length === 0) return new Map();
  const calls = unique.map(hash => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
  const answers = await node.callMany(calls, signal);
  return new Map(
    unique.map((hash, at) => {
      if (answers[at] === null) throw missing('a receipt');
      const receipt = readObject(answers[at], 'a receipt');
      if (readHash(receipt.transactionHash, "a receipt's transaction") !== hash) throw missing('a receipt');
      return [
        hash,
        {
          blockHash: readHash(receipt.blockHash, "a receipt's block"),
          succeeded: readNumber(receipt.status, "a receipt's status") === 1,
          logs: readList(receipt.logs, "a receipt's logs"),
        },
      ];
    }),
  );
};

/** Plain transactions of native coin that succeeded. A block also contains failed ones. */
const coinMovements = async (
  node: EvmNode,
  block: LoggedBlock,
  coins: readonly CoinMove[],
  signal: AbortSignal,
): Promise<readonly Movement[]> => {
  const receipts = await fetchReceipts(
    node,
    coins.map(({ txHash }) => txHash),
    signal,
  );
  return coins.flatMap(coin => {
    const receipt = receipts.get(coin.txHash)!;
    if (receipt.blockHash !== block.hash)
      throw new RpcFault('malformed', undefined, 'The node sent a receipt of another block.');
    return receipt.succeeded ? [{ ...coin, verified: true }] : [];
  });
};

const sumBy = (transfers: readonly TokenTransfer[], side: 'sender' | 'recipient'): Map<string, bigint> => {
  const sums = new Map<string, bigint>();
  for (const transfer of transfers) sums.set(transfer[side], (sums.get(transfer[side]) ?? 0n) + transfer.amount);
  return sums;
};

/** The recipients of a token whose balance changed over the blocks by exactly what the logs say. */
const balancedRecipients = async (
  node: EvmNode,
  run: { readonly token: string; readonly before: string; readonly after: string },
  credits: readonly TokenTransfer[],
  all: readonly TokenTransfer[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> => {
  const received = sumBy(credits, 'recipient');
  const sent = sumBy(all, 'sender');
  const holders = [...received.keys()];
  const [before, after] = await Promise.all(
    [run.before, run.after].map(blockHash => readBalances(node, { token: run.token, holders, blockHash }, signal)),
  );
  return new Set(
    holders.filter(holder => {
      const gained = after!.get(holder)! - before!.get(holder)!;
      return gained + (sent.get(holder) ?? 0n) === received.get(holder)!;
    }),
  );
};

/** The transfers that the receipt of their transaction contains too, with the same content. */
const receiptedTransfers = async (
  node: EvmNode,
  credits: readonly TokenTransfer[],
  signal: AbortSignal,
): Promise<ReadonlySet<TokenTransfer>> => {
  const receipts = await fetchReceipts(
    node,
    credits.map(({ txHash }) => txHash),
    signal,
  );
  return new Set(
    credits.filter(transfer => {
      const receipt = receipts.get(transfer.txHash)!;
      return receipt.succeeded && receipt.logs.some(log => isSameLog(transfer, readLog(log)));
    }),
  );
};

const isSameLog = (a: LogEntry, b: LogEntry): boolean =>
  a.index === b.index &&
  a.blockHash === b.blockHash &&
  a.contract === b.contract &&
  a.data === b.data &&
  a.topics.join() === b.topics.join();

/** Large transfers that the block's receipts do not prove, if the node offers block receipts. */
const disprovedTransfers = async (
  node: EvmNode,
  blocks: readonly LoggedBlock[],
  large: readonly TokenTransfer[],
  signal: AbortSignal,
): Promise<ReadonlySet<TokenTransfer>> => {
  const disproved = new Set<TokenTransfer>();
  for (const block of blocks) {
    const own = large.filter(({ blockHash }) => blockHash === block.hash);
    const proven = own.length === 0 ? undefined : await provenLogs(node, block, signal);
    if (proven === undefined) continue;
    for (const transfer of own) if (!proven?.some(log => isSameLog(transfer, log))) disproved.add(transfer);
  }
  return disproved;
};

/**
 * A log is only what a contract claims. The balances before and after the blocks show whether the tokens moved. If the
 * node no longer has those states, the receipts must do.
 */
const verifiedTransfers = async (
  node: EvmNode,
  blocks: readonly LoggedBlock[],
  credits: readonly TokenTransfer[],
  all: readonly TokenTransfer[],
  signal: AbortSignal,
): Promise<ReadonlySet<TokenTransfer>> => {
  const verified = new Set<TokenTransfer>();
  const [before, after] = [blocks[0]!.parentHash, blocks.at(-1)!.hash];
  for (const [token, some] of Map.groupBy(credits, transfer => transfer.contract)) {
    const sameToken = all.filter(transfer => transfer.contract === token);
    try {
      const balanced = await balancedRecipients(node, { token, before, after }, some, sameToken, signal);
      for (const transfer of some) if (balanced.has(transfer.recipient)) verified.add(transfer);
    } catch (error) {
      if (!isStateGone(error)) throw error;
      for (const transfer of await receiptedTransfers(node, some, signal)) verified.add(transfer);
    }
  }
  return verified;
};

export type WatchOptions = {
  readonly listed: ReadonlySet<string>;
  readonly paymentAddresses: FindPaymentAddresses;
  /** Whether an amount is large enough to require a proof. */
  readonly isLarge: (contract: string, amount: bigint) => boolean;
};

/** Adds to each block the funds that reached or left payment addresses. */
export const watchBlocks = async (
  node: EvmNode,
  blocks: readonly LoggedBlock[],
  options: WatchOptions,
  signal: AbortSignal,
): Promise<readonly WatchedBlock[]> => {
  const found = blocks.map((block): Found => {
    const transfers = tokenTransfers(block, options.listed);
    const coins = block.coinMoves.filter(({ from, to }) => from !== to);
    return { transfers, coins, forwards: forwardsOf(block, options.listed) };
  });
  const candidates = found.flatMap(({ transfers, coins, forwards }) => [
    ...[...transfers, ...coins].map(({ to }) => to),
    ...forwards.map(({ from }) => from),
  ]);
  const paymentAddresses = await options.paymentAddresses([...new Set(candidates)]);
  const all = found.flatMap(({ transfers }) => transfers);
  const credits = all.filter(({ to }) => paymentAddresses.has(to));
  const large = credits.filter(({ contract, amount }) => options.isLarge(contract, amount));
  const [verified, disproved] = await Promise.all([
    verifiedTransfers(node, blocks, credits, all, signal),
    disprovedTransfers(node, blocks, large, signal),
  ]);
  return Promise.all(
    blocks.map(async (block, at) => {
      const { number, hash, parentHash, timestamp } = block;
      const coins = found[at]!.coins.filter(({ to }) => paymentAddresses.has(to));
      const tokens = found[at]!.transfers.filter(({ to }) => paymentAddresses.has(to));
      const movements: Movement[] = tokens.map(transfer => ({
        key: `${hash}:log:${transfer.index}`,
        txHash: transfer.txHash,
        from: addressOfTopic(transfer.sender),
        to: transfer.to,
        contract: transfer.contract,
        amount: transfer.amount,
        verified: verified.has(transfer) && !disproved.has(transfer) && isPlausible(transfer),
      }));
      movements.push(...(await coinMovements(node, block, coins, signal)));
      const forwards = found[at]!.forwards.filter(({ from }) => paymentAddresses.has(from));
      return { number, hash, parentHash, timestamp, movements, forwards };
    }),
  );
};
