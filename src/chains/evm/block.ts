import type { Block, Forward } from '../../core/chain.ts';
import { addressOfDigits, zeroAddress } from './address.ts';
import { bloomBits, bloomBytes, covers, mayContain, setBits } from './bloom.ts';
import { forwarderFactory } from './forwarder.ts';
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

export type Header = Block & { readonly bloom: Uint8Array; readonly receiptsRoot: string };

/** A transaction that moves native coin to somebody. */
export type CoinTransaction = {
  readonly hash: string;
  readonly index: number;
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
};

export type FullBlock = Header & {
  /** Hashes, in order. */
  readonly transactions: readonly string[];
  readonly coinTransactions: readonly CoinTransaction[];
};

export const readHeader = (value: unknown): Header => {
  const { number, hash, parentHash, timestamp, logsBloom, receiptsRoot } = readObject(value, 'a block');
  const bloom = readBytes(logsBloom, "a block's filter of logs");
  if (bloom.length !== bloomBytes) throw new RpcFault('malformed', undefined, 'A filter of logs has the wrong size.');
  return {
    number: readNumber(number, "a block's number"),
    hash: readHash(hash, "a block's hash"),
    parentHash: readHash(parentHash, "a block's parent"),
    timestamp: readNumber(timestamp, "a block's time"),
    bloom,
    receiptsRoot: readHash(receiptsRoot, "a block's receipts"),
  };
};

/** Null where it moves no coin to anybody. */
export const readCoinTransaction = (value: unknown): CoinTransaction | null => {
  const transaction = readObject(value, 'a transaction');
  const amount = readQuantity(transaction.value, "a transaction's value");
  if (amount === 0n || typeof transaction.to !== 'string') return null;
  return {
    hash: readHash(transaction.hash, "a transaction's hash"),
    index: readNumber(transaction.transactionIndex, "a transaction's place"),
    from: readAddress(transaction.from, "a transaction's sender"),
    to: readAddress(transaction.to, "a transaction's recipient"),
    value: amount,
  };
};

/** A block asked for with its transactions. */
export const readFullBlock = (value: unknown): FullBlock => {
  const list = readList(readObject(value, 'a block').transactions, "a block's transactions");
  return {
    ...readHeader(value),
    transactions: list.map(each => readHash(readObject(each, 'a transaction').hash, "a transaction's hash")),
    coinTransactions: list.flatMap(each => readCoinTransaction(each) ?? []),
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
  if (log.removed === true)
    throw new RpcFault('malformed', undefined, 'The node answered with a log that was removed.');
  return {
    contract: readContract(log.address, "a log's contract"),
    topics: readList(log.topics, "a log's topics").map(topic => readHash(topic, "a log's topic")),
    data: readHex(log.data, "a log's data"),
    index: readNumber(log.logIndex, "a log's place"),
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

/** Sender and recipient as topics, which are compared as they are; a checksum costs a hash, and few senders matter. */
export type TokenTransfer = LogEntry & {
  readonly sender: string;
  readonly recipient: string;
  readonly to: string;
  readonly amount: bigint;
};

/** A log in the exact form of an ERC-20 transfer, or null: another form means something else, whatever its name. */
export const readTransfer = (log: LogEntry): TokenTransfer | null => {
  const [name, sender, recipient, ...more] = log.topics;
  if (name !== transferTopic || sender === undefined || recipient === undefined || more.length > 0) return null;
  if (log.data.length !== 66) return null;
  const to = addressOfTopic(recipient);
  if (to === null || !paddedAddress.test(sender)) return null;
  return { ...log, sender, recipient, to, amount: BigInt(log.data) };
};

/** A log of the factory that says what left a receiving address, or null. */
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

/** Whether these may be all the logs of the block: every bit of its filter is explained by them. */
export const explainsBloom = ({ bloom }: Header, logs: readonly LogEntry[]): boolean => {
  const items = new Set(logs.flatMap(({ contract, topics }) => [contract, ...topics]));
  const computed = new Uint8Array(bloomBytes);
  for (const item of items) setBits(computed, bloomBits(bytesOf(item)));
  return covers(computed, bloom);
};

/**
 * Whether these are shown to be all the logs of the block: counted through, up to its last transaction, with every bit of
 * the filter explained. All that could still be missing is a repetition at the very end.
 */
export const isProven = (block: FullBlock, logs: readonly LogEntry[]): boolean => {
  const isEnd = logs.length === 0 || logs.at(-1)!.txHash === block.transactions.at(-1);
  return isEnd && logs.every((log, at) => log.index === at) && explainsBloom(block, logs);
};

/** A contract and the event of it that matters. */
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

/** Whether some emitter may, by the block's filter, have spoken in it, and is in none of the logs. */
export const missesEmitter = ({ bloom }: Header, emitters: readonly Emitter[], logs: readonly LogEntry[]): boolean => {
  const heard = new Set(logs.map(log => log.contract));
  return emitters.some(
    ({ contract, bits, topicBits }) => !heard.has(contract) && mayContain(bloom, topicBits) && mayContain(bloom, bits),
  );
};
