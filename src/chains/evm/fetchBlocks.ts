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

const numbersFrom = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);

/** Blocks of a run of heights, each the child of the one before. */
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
  return blocks;
};

/** Nodes reorganise between two answers, and some answer from several chains at once. */
const assertRun = (range: Range, blocks: readonly Header[]): void => {
  const [first, ...others] = blocks;
  const fault = first === undefined || first.number !== range.from ? 'a block' : linkFault(first, others);
  if (fault !== null) throw incomplete(`the link of a block: ${fault}`);
};

export const fetchHeaders = (node: EvmNode, range: Range, signal: AbortSignal): Promise<readonly Header[]> =>
  fetchRun(node, range, { isFull: false, read: readHeader }, signal);

const fetchFull = (node: EvmNode, range: Range, signal: AbortSignal): Promise<readonly FullBlock[]> =>
  fetchRun(node, range, { isFull: true, read: readFullBlock }, signal);

const readLogs = (answer: unknown): readonly LogEntry[] => readList(answer, 'a list of logs').map(readLog);

/** Two logs of one block at one place: an answer put together from several chains. */
const placeOf = ({ blockHash, index }: Pick<LogEntry, 'blockHash' | 'index'>): string => `${blockHash} ${index}`;
const assertDistinct = (logs: readonly LogEntry[]): void => {
  const places = new Set(logs.map(placeOf));
  if (places.size !== logs.length) throw incomplete('the order of its logs');
};

/**
 * An answer that is cut off at its end leaves places and, where another log has the same topics, the filter in order. The
 * receipts from the last log on tell how many there are.
 */
const assertWhole = async (
  node: EvmNode,
  block: FullBlock,
  logs: readonly LogEntry[],
  signal: AbortSignal,
): Promise<void> => {
  const from = logs.length === 0 ? 0 : block.transactions.indexOf(logs.at(-1)!.txHash);
  if (from < 0) throw incomplete('the transaction of a log');
  const calls = block.transactions.slice(from).map(hash => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
  for (const answer of await node.callMany(calls, signal)) {
    if (answer === null) throw incomplete('a receipt');
    const { blockHash, logs: own } = readObject(answer, 'a receipt');
    if (readHash(blockHash, "a receipt's block") !== block.hash) throw incomplete("a receipt's block");
    const places = readLogs(own).map(({ index }) => index);
    if (places.some(index => index >= logs.length)) throw incomplete('logs of a block');
  }
};

/**
 * All logs of a block, by its hash: a node that lacks the block refuses instead of answering for another. Places that are
 * not counted through show that some are missing, and so does whatever bit of the header's filter no log explains.
 */
const fetchAllLogs = async (node: EvmNode, block: FullBlock, signal: AbortSignal): Promise<readonly LogEntry[]> => {
  const answer = readLogs(await node.call('eth_getLogs', [{ blockHash: block.hash }], signal));
  const logs = answer.toSorted((a, b) => a.index - b.index);
  if (logs.some(log => log.blockHash !== block.hash)) throw incomplete('the block of a log');
  if (logs.some((log, at) => log.index !== at) || !explainsBloom(block, logs)) throw incomplete('logs of a block');
  // An empty filter proves that there are none.
  if (block.bloom.some(byte => byte !== 0)) await assertWhole(node, block, logs, signal);
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

/** Where the logs of an answer stand, without the rest of them. */
const readPlaces = (answer: unknown): readonly string[] =>
  readList(answer, 'a list of logs').map(value => {
    const log = readObject(value, 'a log');
    return placeOf({
      blockHash: readHash(log.blockHash, "a log's block"),
      index: readNumber(log.logIndex, "a log's place"),
    });
  });

const rangeFaults: ReadonlySet<RpcFault['kind']> = new Set(['refused', 'too_large', 'timeout']);

/** Whose ranges are read, and who is asked whether they are whole. */
export type RangeSource = {
  readonly node: EvmNode;
  readonly witness: EvmNode | null;
  readonly emitters: readonly Emitter[];
};

/** The answer to a range, or null where the node does not take such a question. */
const askRange = async (
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
 * Whether the halves of a range hold the same logs as the whole, by another node's word where one can be asked: some cap
 * their answers and do not say so, and some have lost a log for good.
 */
const isConsistent = async (
  range: Range,
  logs: readonly LogEntry[],
  ask: RangeSource,
  signal: AbortSignal,
): Promise<boolean> => {
  const middle = Math.floor((range.from + range.to) / 2);
  const halves = [
    { from: range.from, to: middle },
    { from: middle + 1, to: range.to },
  ];
  const askHalves = (node: EvmNode) => Promise.all(halves.map(half => askRange(node, half, ask.emitters, signal)));
  const witnessed = await (ask.witness && askHalves(ask.witness).catch(orNothing));
  const answers = witnessed && !witnessed.includes(null) ? witnessed : await askHalves(ask.node);
  if (answers.includes(null)) return false;
  const places = new Set(answers.flatMap(readPlaces));
  return logs.length === places.size && logs.every(log => places.has(placeOf(log)));
};

const orNothing = (error: unknown): null => {
  if (error instanceof RpcFault) return null;
  throw error;
};

/**
 * Blocks far below the head, with the logs of the listed contracts, by range. Such an answer proves nothing by itself:
 * each log must belong to a block of the run, and where the filters of the blocks do not prove that nothing is missing, the
 * halves of the range must hold the same, by another node. A block is asked for by its hash where its filter names a contract that is
 * silent, and where the answer ends, since it may have been cut off there.
 */
export const fetchRange = async (
  range: Range,
  ask: RangeSource,
  signal: AbortSignal,
): Promise<readonly LoggedBlock[]> => {
  const { node, emitters } = ask;
  const isWide = range.from < range.to;
  const [blocks, answer] = await Promise.all([
    fetchFull(node, range, signal),
    isWide ? askRange(node, range, emitters, signal) : null,
  ]);
  const logs = answer === null ? [] : readLogs(answer);
  assertDistinct(logs);
  const byHash = Map.groupBy(logs, log => log.blockHash);
  const logsOf = (block: FullBlock): readonly LogEntry[] => byHash.get(block.hash) ?? [];
  const known = new Set(blocks.map(block => block.hash));
  if ([...byHash.keys()].some(hash => !known.has(hash))) throw incomplete('the block of a log');
  const isUsable =
    answer !== null &&
    (blocks.every(block => isProven(block, logsOf(block))) || (await isConsistent(range, logs, ask, signal)));
  const last = blocks.findLast(block => byHash.has(block.hash));
  return Promise.all(
    blocks.map(async block => {
      const own = logsOf(block);
      const isDoubtful = !isUsable || block === last || missesEmitter(block, emitters, own);
      return { ...block, logs: isDoubtful ? await fetchAllLogs(node, block, signal) : own };
    }),
  );
};
