import type { Block, Forward, Movement, WatchedBlock } from '../../core/chain.ts';
import type { Driver, DriverHost } from '../driver.ts';
import { type Emitter, readLog, transferTopic } from './block.ts';
import { fetchHeaders, fetchNearHead, fetchRange } from './fetchBlocks.ts';
import { type WatchOptions, watchBlocks } from './movements.ts';
import type { EvmNode } from './node.ts';
import type { Range } from './readAhead.ts';
import { readList } from './reading.ts';
import { RpcFault } from './rpc.ts';
import { otherNodes, verifyWithWitnesses } from './witness.ts';

export type RereadOptions = Pick<WatchOptions, 'listed' | 'isLarge'> & {
  readonly nodes: readonly EvmNode[];
  readonly quorum: number;
  readonly emitters: readonly Emitter[];
};

const nullOnFault = (error: unknown): null => {
  if (error instanceof RpcFault) return null;
  throw error;
};

const hex = (number: number): string => `0x${number.toString(16)}`;
const topicOf = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;

/** One of each key. What is verified comes before what is not. */
const union = <T extends Movement | Forward>(lists: readonly (readonly T[])[]): readonly T[] => {
  const byKey = new Map<string, T>();
  for (const item of lists.flat()) if (!byKey.get(item.key)?.verified) byKey.set(item.key, item);
  return [...byKey.values()];
};

/** All that any of the nodes reports; null if they report different blocks. */
const merge = (reads: readonly (readonly WatchedBlock[])[]): readonly WatchedBlock[] | null => {
  const [first, ...others] = reads as [readonly WatchedBlock[], ...(readonly WatchedBlock[])[]];
  const isSame = others.every(read => read.every(({ hash }, at) => hash === first[at]?.hash));
  if (!isSame) return null;
  return first.map((block, at) => ({
    ...block,
    movements: union(reads.map(read => read[at]!.movements)),
    forwards: union(reads.map(read => read[at]!.forwards)),
  }));
};

/** Reads blocks again that the chain has had for a while. */
export const createRereads = (
  options: RereadOptions,
): Pick<Driver, 'reread' | 'rereadRange' | 'header' | 'transferBlocks'> => {
  const { nodes, quorum, listed, isLarge, emitters } = options;
  const anyNode = (): EvmNode => nodes.find(node => !node.isBackingOff()) ?? nodes[0]!;

  /** Asks as many nodes as must agree. Null if fewer answer. */
  const askQuorum = async <T>(ask: (node: EvmNode) => Promise<T>): Promise<readonly T[] | null> => {
    const answers: T[] = [];
    const available = nodes.filter(node => !node.isBackingOff());
    for (const node of available.length > 0 ? available : nodes.slice(0, 1)) {
      const answer = await ask(node).catch(nullOnFault);
      if (answer !== null) answers.push(answer);
      if (answers.length === quorum) return answers;
    }
    return null;
  };

  const readFrom = async (node: EvmNode, range: Range, { paymentAddresses }: DriverHost, signal: AbortSignal) => {
    const [witness = null] = otherNodes(node, nodes);
    const isWide = range.from < range.to;
    const fetched = await (isWide
      ? fetchRange(range, { node, witness, emitters }, signal)
      : fetchNearHead(node, range, signal));
    const blocks = await watchBlocks(node, fetched, { listed, paymentAddresses, isLarge }, signal);
    return quorum <= 1 ? blocks : verifyWithWitnesses(blocks, otherNodes(node, nodes), signal);
  };

  return {
    // From a single node: two nodes may be on two branches.
    reread: async (number, host, signal) =>
      (await readFrom(anyNode(), { from: number, to: number }, host, signal).catch(nullOnFault))?.[0] ?? null,
    async rereadRange(range, host, signal) {
      const reads = await askQuorum(node => readFrom(node, range, host, signal));
      return reads && merge(reads);
    },
    async header(number, signal): Promise<Block | null> {
      const answers = await askQuorum(node => fetchHeaders(node, { from: number, to: number }, signal));
      const [first, ...others] = (answers ?? []).map(([header]) => header!);
      return first !== undefined && others.every(({ hash }) => hash === first.hash) ? first : null;
    },
    async transferBlocks(token, addresses, { from, to }, signal) {
      const topics = [transferTopic, null, addresses.map(topicOf)];
      const filter = { fromBlock: hex(from), toBlock: hex(to), address: token, topics };
      const answers = await askQuorum(node => node.call('eth_getLogs', [filter], signal));
      if (answers === null) return null;
      const logs = answers.flatMap(answer => readList(answer, 'a list of logs').map(readLog));
      return [...new Set(logs.map(({ blockNumber }) => blockNumber))].filter(number => number >= from && number <= to);
    },
  };
};
