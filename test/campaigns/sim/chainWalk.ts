import { type ChainRpc, hexOf } from './chainRpc.ts';

/** Funds that reached some address in a block, read from transactions and their receipts. Hexadecimal is lower-case. */
export type ChainTransfer = {
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly txHash: string;
  /** Within the block: the log's index or, for a plain send of native coin, the transaction's. */
  readonly place: string;
  readonly from: string;
  readonly to: string;
  /** Null: the native coin. */
  readonly contract: string | null;
  readonly amount: bigint;
};

export type WalkedBlock = {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestampS: number;
  readonly transfers: readonly ChainTransfer[];
};

type RpcTransaction = { hash: string; from: string; to: string | null; value: string; transactionIndex: string };
type RpcBlock = { number: string; hash: string; parentHash: string; timestamp: string; transactions: RpcTransaction[] };
type RpcLog = { address: string; topics: string[]; data: string; logIndex: string };
type RpcReceipt = { blockHash: string; status: string; logs: RpcLog[] };

// keccak-256 of "Transfer(address,address,uint256)", as every explorer shows it.
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const stride = 64;

const tokenTransfers = (block: RpcBlock, tx: RpcTransaction, { logs }: RpcReceipt): ChainTransfer[] =>
  logs.flatMap(log => {
    const [topic, from, to] = log.topics;
    if (topic !== transferTopic || log.topics.length !== 3 || log.data.length !== 66) return [];
    const amount = BigInt(log.data);
    if (amount === 0n || from === to) return [];
    return [
      {
        blockNumber: Number(block.number),
        blockHash: block.hash,
        txHash: tx.hash,
        place: `log:${Number(log.logIndex)}`,
        from: `0x${from!.slice(26)}`,
        to: `0x${to!.slice(26)}`,
        contract: log.address.toLowerCase(),
        amount,
      },
    ];
  });

const transfersOf = (block: RpcBlock, tx: RpcTransaction, receipt: RpcReceipt | null): ChainTransfer[] => {
  if (receipt?.blockHash !== block.hash) throw new Error(`the receipt of ${tx.hash} is of another block`);
  if (Number(receipt.status) !== 1) return [];
  const found = tokenTransfers(block, tx, receipt);
  const amount = BigInt(tx.value);
  if (amount === 0n || tx.to === null) return found;
  const place = `tx:${Number(tx.transactionIndex)}`;
  const { number, hash: blockHash } = block;
  const coin = { blockNumber: Number(number), blockHash, txHash: tx.hash, place, contract: null, amount };
  return [{ ...coin, from: tx.from.toLowerCase(), to: tx.to.toLowerCase() }, ...found];
};

const readBlocks = async (rpc: ChainRpc, from: number, to: number): Promise<WalkedBlock[]> => {
  const heights = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const blocks = (await rpc.batch(
    heights.map(number => ['eth_getBlockByNumber', hexOf(number), true]),
  )) as (RpcBlock | null)[];
  const transactions = blocks.flatMap(block => block?.transactions ?? []);
  const receipts = (await rpc.batch(
    transactions.map(({ hash }) => ['eth_getTransactionReceipt', hash]),
  )) as (RpcReceipt | null)[];
  const byHash = new Map(transactions.map(({ hash }, at) => [hash, receipts[at]!]));
  return blocks.map((block, at) => {
    if (block === null) throw new Error(`the chain has no block ${heights[at]}`);
    return {
      number: Number(block.number),
      hash: block.hash,
      parentHash: block.parentHash,
      timestampS: Number(block.timestamp),
      transfers: block.transactions.flatMap(tx => transfersOf(block, tx, byHash.get(tx.hash) ?? null)),
    };
  });
};

/**
 * Reads the chain downwards from a height. A block names its parent and by that all below it, so a walk may stop where it
 * meets a block of the walk before.
 */
export const createChainWalk = () => {
  let known = new Map<number, WalkedBlock>();
  return async (rpc: ChainRpc, from: number, to: number): Promise<ReadonlyMap<number, WalkedBlock>> => {
    const walked = new Map<number, WalkedBlock>();
    for (let top = to; top >= from; top -= stride) {
      const bottom = Math.max(from, top - stride + 1);
      const blocks = await readBlocks(rpc, bottom, top);
      for (const block of blocks) walked.set(block.number, block);
      if (known.has(from) && known.get(bottom)?.hash === walked.get(bottom)!.hash) {
        for (let number = from; number < bottom; number++) walked.set(number, known.get(number)!);
        break;
      }
    }
    for (let number = from + 1; number <= to; number++) {
      if (walked.get(number)!.parentHash !== walked.get(number - 1)!.hash) {
        throw new Error(`the chain changed while it was walked, at block ${number}`);
      }
    }
    known = walked;
    return walked;
  };
};
