import { linkFault } from '../linkage.ts';
import {
  type Emitter,
  explainsBloom,
  type FullBlock,
  forwardedTopic,
  type Header,
  isProven,
  type LogEntry,
  missesEmitter,
  readFullBlock,
  readHeader,
  readLog,
  transferTopic,
} from './block.ts';
import type { EvmNode } from './node.ts';
import { readHash, readList, readNumber, readObject } from './reading.ts';
import { RpcFault } from './rpc.ts';

type Range = { readonly from: number; readonly to: number };

export type LoggedBlock = FullBlock & { readonly logs: readonly LogEntry[] };

const hex = (number: number): string => `0x${number.toString(16)}`;

const incomplete = (what: string): RpcFault => new RpcFault('malformed', undefined, `The node left out ${what}.`);
const malformed = (what: string): RpcFault => new RpcFault('malformed', undefined, `The node sent ${what}.`);

const numbersFrom = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);

/** Fetches consecutive blocks. Checks their hashes, and that each is the child of the one before. */
const fetchRun = async <T extends Header>(
  node: EvmNode,
  range: Range,
  shape: { readonly isFull: boolean; readonly read: (answer: unknown) => T },
  signal: AbortSignal,
): Promise<readonly T[]> => {
  const calls = numbersFrom(range.from, range.to).map(number => ({
    method: 'eth_getBlockByNumber',
    params: [hex(number), shape.isFull],
  }));
  const blocks = (await node.callMany(calls, signal)).map(answer => {
    if (answer === null) throw incomplete('a block');
    return shape.read(answer);
  });
  assertRun(range, blocks);
  await node.headers.check(node, blocks, signal);
  return blocks;
};

/** A node may reorganise between two answers, and some providers answer from several nodes. */
const assertRun = (range: Range, blocks: readonly Header[]): void => {
  const [first, ...others] = blocks;
  if (first?.number !== range.from) throw incomplete('a block');
  const fault = linkFault(first, others);
  if (fault !== null) throw malformed(`blocks that are not linked: ${fault}`);
};

export const fetchHeaders = (node: EvmNode, range: Range, signal: AbortSignal): Promise<readonly Header[]> =>
  fetchRun(node, range, { isFull: false, read: readHeader }, signal);

const fetchFull = (node: EvmNode, range: Range, signal: AbortSignal): Promise<readonly FullBlock[]> =>
  fetchRun(node, range, { isFull: true, read: readFullBlock }, signal);

const readLogs = (answer: unknown): readonly LogEntry[] => readList(answer, 'a list of logs').map(readLog);

/** Two logs with the same block and index come from an answer that mixes several chains. */
const positionOf = ({ blockHash, index }: Pick<LogEntry, 'blockHash' | 'index'>): string => `${blockHash} ${index}`;
const assertDistinct = (logs: readonly LogEntry[]): void => {
  const positions = new Set(logs.map(positionOf));
  if (positions.size !== logs.length) throw malformed('two logs with the same index');
};

/**
 * A truncated answer has no gap in its indexes, and its bloom filter may still match if another log has the same
 * topics. The receipts from the last log on show how many logs there are.
 */
const assertWhole = async (
  node: EvmNode,
  block: FullBlock,
  logs: readonly LogEntry[],
  signal: AbortSignal,
): Promise<void> => {
  const from = logs.length === 0 ? 0 : block.transactions.indexOf(logs.at(-1)!.txHash);
  if (from < 0) throw malformed('a log of an unknown transaction');
  const calls = block.transactions.slice(from).map(hash => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
  for (const answer of await node.callMany(calls, signal)) {
    if (answer === null) throw incomplete('a receipt');
    const { blockHash, logs: own } = readObject(answer, 'a receipt');
    if (readHash(blockHash, "a receipt's block") !== block.hash) throw malformed('a receipt of another block');
    const positions = readLogs(own).map(({ index }) => index);
    if (positions.some(index => index >= logs.length)) throw incomplete('logs of a block');
  }
};

/**
 * All logs of a block, by its hash: a node that lacks the block returns an error instead of logs of another block. A
 * gap in the indexes, or a bit of the header's bloom filter that no log explains, shows that logs are missing.
 */
const fetchAllLogs = async (node: EvmNode, block: FullBlock, signal: AbortSignal): Promise<readonly LogEntry[]> => {
  const answer = readLogs(await node.call('eth_getLogs', [{ blockHash: block.hash }], signal));
  const logs = answer.toSorted((a, b) => a.index - b.index);
  if (logs.some(log => log.blockHash !== block.hash)) throw malformed('a log of another block');
  if (logs.some((log, at) => log.index !== at) || !explainsBloom(block, logs)) throw incomplete('logs of a block');
  // An empty bloom filter proves that there are no logs, if the hash of the block proves the filter.
  if (!block.isHashed || block.bloom.some(byte => byte !== 0)) await assertWhole(node, block, logs, signal);
  return logs;
};

/** Blocks near the head, with all their logs. */
export const fetchNearHead = async (
  node: EvmNode,
  range: Range,
  signal: AbortSignal,
): Promise<readonly LoggedBlock[]> => {
  const blocks = await fetchFull(node, range, signal);
  return Promise.all(blocks.map(async block => ({ ...block, logs: await fetchAllLogs(node, block, signal) })));
};

/** The positions of the logs, without the rest of their content. */
const readPositions = (answer: unknown): readonly string[] =>
  readList(answer, 'a list of logs').map(value => {
    const log = readObject(value, 'a log');
    return positionOf({
      blockHash: readHash(log.blockHash, "a log's block"),
      index: readNumber(log.logIndex, "a log's index"),
    });
  });

const rangeFaults: ReadonlySet<RpcFault['kind']> = new Set(['refused', 'too_large', 'timeout']);

/** The node whose ranges are read, and the node that checks them. */
export type RangeSource = {
  readonly node: EvmNode;
  readonly witness: EvmNode | null;
  readonly emitters: readonly Emitter[];
};

/** The logs of a range, or null if the node refuses such a request. */
const fetchRangeLogs = async (
  node: EvmNode,
  { from, to }: Range,
  emitters: readonly Emitter[],
  signal: AbortSignal,
): Promise<unknown> => {
  const address = emitters.map(({ contract }) => contract);
  const filter = { fromBlock: hex(from), toBlock: hex(to), address, topics: [[transferTopic, forwardedTopic]] };
  try {
    return await node.call('eth_getLogs', [filter], signal);
  } catch (error) {
    if (error instanceof RpcFault && rangeFaults.has(error.kind)) return null;
    throw error;
  }
};

/**
 * Whether another node has the same logs in the two halves of the range as this one has in the whole. Some nodes cap
 * their answers silently, and some have lost logs for good: the node's own halves would prove nothing.
 */
const isConfirmed = async (
  range: Range,
  logs: readonly LogEntry[],
  { witness, emitters }: RangeSource,
  signal: AbortSignal,
): Promise<boolean> => {
  if (witness === null) return false;
  const middle = Math.floor((range.from + range.to) / 2);
  const halves = [
    { from: range.from, to: middle },
    { from: middle + 1, to: range.to },
  ];
  const fetched = halves.map(half => fetchRangeLogs(witness, half, emitters, signal));
  const answers = await Promise.all(fetched).catch(nullOnFault);
  if (answers === null || answers.includes(null)) return false;
  const positions = new Set(answers.flatMap(readPositions));
  return logs.length === positions.size && logs.every(log => positions.has(positionOf(log)));
};

const nullOnFault = (error: unknown): null => {
  if (error instanceof RpcFault) return null;
  throw error;
};

/**
 * Blocks far below the head with the logs of the listed contracts, by range. The answer alone proves nothing: each log
 * must belong to a block of the range, and unless the bloom filters prove that none is missing, another node must
 * report the same logs for the two halves. Otherwise every block whose bloom filter names a listed contract is fetched
 * by its hash. So is a block whose filter names a contract without logs, a block whose filter is not proven, and the
 * last block with logs, because the answer may be truncated there.
 */
export const fetchRange = async (
  range: Range,
  source: RangeSource,
  signal: AbortSignal,
): Promise<readonly LoggedBlock[]> => {
  const { node, emitters } = source;
  const isWide = range.from < range.to;
  const [blocks, answer] = await Promise.all([
    fetchFull(node, range, signal),
    isWide ? fetchRangeLogs(node, range, emitters, signal) : null,
  ]);
  const logs = answer === null ? [] : readLogs(answer);
  assertDistinct(logs);
  const byHash = Map.groupBy(logs, log => log.blockHash);
  const logsOf = (block: FullBlock): readonly LogEntry[] => byHash.get(block.hash) ?? [];
  const blockHashes = new Set(blocks.map(block => block.hash));
  if ([...byHash.keys()].some(hash => !blockHashes.has(hash))) throw malformed('a log of another block');
  const isUsable =
    answer !== null &&
    (blocks.every(block => isProven(block, logsOf(block))) || (await isConfirmed(range, logs, source, signal)));
  const last = blocks.findLast(block => byHash.has(block.hash));
  return Promise.all(
    blocks.map(async block => {
      const own = logsOf(block);
      const isDoubtful = !block.isHashed || block === last || missesEmitter(block, emitters, isUsable ? own : []);
      return { ...block, logs: isDoubtful ? await fetchAllLogs(node, block, signal) : own };
    }),
  );
};
