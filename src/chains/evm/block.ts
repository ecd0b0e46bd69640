import type { Block, Forward, Movement } from '../../core/chain.ts';
import { addressOfDigits, zeroAddress } from './address.ts';
import { bloomBits, bloomBytes, covers, mayContain, setBits } from './bloom.ts';
import { forwarderFactory } from './forwarder.ts';
import { hasHash, shapeOf } from './headerHash.ts';
import { keccak256Hex } from './keccak.ts';
import {
  readAddress,
  readBytes,
  readContract,
  readHash,
  readHex,
  readList,
  readNumber,
  readObject,
  readQuantity,
} from './reading.ts';
import { RpcFault } from './rpc.ts';

export type Header = Block & {
  readonly bloom: Uint8Array;
  readonly receiptsRoot: string;
  /** Whether the header has the hash that it claims. If not, it is forged or its format is unknown. */
  readonly isHashed: boolean;
  /** Equal for headers with the same fields. */
  readonly shape: string;
};

/** What a transaction with a value and a recipient moves if it succeeds. */
export type CoinMove = Omit<Movement, 'verified'> & { readonly txHash: string };

export type FullBlock = Header & {
  /** Transaction hashes, in order. */
  readonly transactions: readonly string[];
  readonly coinMoves: readonly CoinMove[];
};

export const readHeader = (value: unknown): Header => {
  const fields = readObject(value, 'a block');
  const { number, parentHash, timestamp, logsBloom, receiptsRoot } = fields;
  const hash = readHash(fields.hash, "a block's hash");
  const bloom = readBytes(logsBloom, "a block's bloom filter");
  if (bloom.length !== bloomBytes)
    throw new RpcFault('malformed', undefined, "The node sent a block's bloom filter in the wrong size.");
  return {
    number: readNumber(number, "a block's number"),
    hash,
    parentHash: readHash(parentHash, "a block's parent"),
    timestamp: readNumber(timestamp, "a block's timestamp"),
    bloom,
    receiptsRoot: readHash(receiptsRoot, "a block's receipts"),
    isHashed: hasHash(fields, hash),
    shape: shapeOf(fields),
  };
};

/** Null if the transaction moves no coin or creates a contract. */
export const readCoinMove = (value: unknown, blockHash: string): CoinMove | null => {
  const transaction = readObject(value, 'a transaction');
  const amount = readQuantity(transaction.value, "a transaction's value");
  if (amount === 0n || typeof transaction.to !== 'string') return null;
  return {
    txHash: readHash(transaction.hash, "a transaction's hash"),
    key: `${blockHash}:tx:${readNumber(transaction.transactionIndex, "a transaction's index")}`,
    from: readAddress(transaction.from, "a transaction's sender"),
    to: readAddress(transaction.to, "a transaction's recipient"),
    contract: null,
    amount,
  };
};

/** Reads a block that was requested with its transactions. */
export const readFullBlock = (value: unknown): FullBlock => {
  const list = readList(readObject(value, 'a block').transactions, "a block's transactions");
  const header = readHeader(value);
  return {
    ...header,
    transactions: list.map(each => readHash(readObject(each, 'a transaction').hash, "a transaction's hash")),
    coinMoves: list.flatMap(each => readCoinMove(each, header.hash) ?? []),
  };
};

export type LogEntry = {
  readonly contract: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly index: number;
  readonly txHash: string;
  readonly blockHash: string;
  readonly blockNumber: number;
};

export const readLog = (value: unknown): LogEntry => {
  const log = readObject(value, 'a log');
  if (log.removed === true) throw new RpcFault('malformed', undefined, 'The node sent a removed log.');
  return {
    contract: readContract(log.address, "a log's contract"),
    topics: readList(log.topics, "a log's topics").map(topic => readHash(topic, "a log's topic")),
    data: readHex(log.data, "a log's data"),
    index: readNumber(log.logIndex, "a log's index"),
    txHash: readHash(log.transactionHash, "a log's transaction"),
    blockHash: readHash(log.blockHash, "a log's block"),
    blockNumber: readNumber(log.blockNumber, "a log's block number"),
  };
};

const topicOf = (signature: string): string => `0x${keccak256Hex(Buffer.from(signature))}`;
export const transferTopic = topicOf('Transfer(address,address,uint256)');
export const forwardedTopic = topicOf('Forwarded(address,address,uint256)');

const paddedAddress = /^0x0{24}([0-9a-f]{40})$/;
export const addressOfTopic = (topic: string): string | null => {
  const digits = paddedAddress.exec(topic)?.[1];
  return digits === undefined ? null : addressOfDigits(digits);
};

/**
 * `sender` and `recipient` are topics, which can be compared directly. A checksummed sender costs a hash, and few
 * senders are needed.
 */
export type TokenTransfer = LogEntry & {
  readonly sender: string;
  readonly recipient: string;
  readonly to: string;
  readonly amount: bigint;
};

/** An ERC-20 transfer, or null. A log in any other form means something else, even with the same event name. */
export const readTransfer = (log: LogEntry): TokenTransfer | null => {
  const [name, sender, recipient, ...more] = log.topics;
  if (name !== transferTopic || sender === undefined || recipient === undefined || more.length > 0) return null;
  if (log.data.length !== 66) return null;
  const to = addressOfTopic(recipient);
  if (to === null || !paddedAddress.test(sender)) return null;
  return { ...log, sender, recipient, to, amount: BigInt(log.data) };
};

/** The factory's log of funds forwarded from an address, or null. */
export const readForwarded = (log: LogEntry): Omit<Forward, 'verified'> | null => {
  const [name, forwarder, moved, ...more] = log.topics;
  if (log.contract !== forwarderFactory || name !== forwardedTopic || more.length > 0) return null;
  const from = forwarder === undefined ? null : addressOfTopic(forwarder);
  const contract = moved === undefined ? null : addressOfTopic(moved);
  if (from === null || contract === null || log.data.length !== 66) return null;
  const { blockHash, index, txHash } = log;
  const token = contract === zeroAddress ? null : contract;
  return { key: `${blockHash}:log:${index}`, txHash, from, contract: token, amount: BigInt(log.data) };
};

const bytesOf = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex');

/** Whether these can be all logs of the block: they explain every bit of its bloom filter. */
export const explainsBloom = ({ bloom }: Header, logs: readonly LogEntry[]): boolean => {
  const items = new Set(logs.flatMap(({ contract, topics }) => [contract, ...topics]));
  const computed = new Uint8Array(bloomBytes);
  for (const item of items) setBits(computed, bloomBits(bytesOf(item)));
  return covers(computed, bloom);
};

/**
 * Whether these are proven to be all logs of the block: their indexes have no gap, they reach the last transaction, and
 * they explain every bit of the bloom filter. Only repeated logs at the very end could still be missing.
 */
export const isProven = (block: FullBlock, logs: readonly LogEntry[]): boolean => {
  const isEnd = logs.length === 0 || logs.at(-1)!.txHash === block.transactions.at(-1);
  return isEnd && logs.every((log, at) => log.index === at) && explainsBloom(block, logs);
};

/** A contract and the event that Florin reads from it. */
export type Emitter = {
  readonly contract: string;
  readonly bits: ReturnType<typeof bloomBits>;
  readonly topicBits: ReturnType<typeof bloomBits>;
};

const emitter = (contract: string, topic: string): Emitter => ({
  contract,
  bits: bloomBits(bytesOf(contract)),
  topicBits: bloomBits(bytesOf(topic)),
});
export const tokenEmitter = (contract: string): Emitter => emitter(contract, transferTopic);
export const factoryEmitter: Emitter = emitter(forwarderFactory, forwardedTopic);

/** Whether the block's bloom filter allows for a log of an emitter that is in none of the logs. */
export const missesEmitter = ({ bloom }: Header, emitters: readonly Emitter[], logs: readonly LogEntry[]): boolean => {
  const logContracts = new Set(logs.map(log => log.contract));
  return emitters.some(
    ({ contract, bits, topicBits }) =>
      !logContracts.has(contract) && mayContain(bloom, topicBits) && mayContain(bloom, bits),
  );
};
