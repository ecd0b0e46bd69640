import { type Header, readHeader } from './block.ts';
import type { EvmNode } from './node.ts';
import { readNumber } from './reading.ts';
import { RpcFault } from './rpc.ts';

/** What a node reports at the start of a poll. */
export type NodeReport = {
  readonly node: EvmNode;
  readonly head: Header;
  readonly safe: Header | null;
  readonly finalized: Header | null;
};

export type Survey = {
  /** Reports of the nodes that serve this chain, in the operator's order. */
  readonly reports: readonly NodeReport[];
  /** Why the other nodes do not count, for people. */
  readonly faults: readonly string[];
};

const blockAt = (tag: string) => ({ method: 'eth_getBlockByNumber', params: [tag, false] });

/** Nodes without the tag answer in different ways. That is not a fault. */
const readTagged = (answer: unknown): Header | null =>
  answer === null || answer === undefined || answer instanceof RpcFault ? null : readHeader(answer);

const fetchReport = async (
  node: EvmNode,
  chainId: number,
  hasTags: boolean,
  signal: AbortSignal,
): Promise<NodeReport> => {
  const tags = hasTags ? [blockAt('safe'), blockAt('finalized')] : [];
  const [chain, latest, safe = null, finalized = null] = await node.callEach(
    [{ method: 'eth_chainId', params: [] }, blockAt('latest'), ...tags],
    signal,
  );
  if (chain instanceof RpcFault) throw chain;
  if (latest instanceof RpcFault) throw latest;
  const served = readNumber(chain, 'its chain id');
  if (served !== chainId) {
    throw new RpcFault('malformed', undefined, `The node serves chain ${served} instead of ${chainId}.`);
  }
  const report = { node, head: readHeader(latest), safe: readTagged(safe), finalized: readTagged(finalized) };
  const headers = [report.head, report.safe, report.finalized].filter(header => header !== null);
  await node.headers.checkHeads(node, headers, signal);
  return report;
};

/** Asks all nodes that are not backing off for their head and tags. */
export const surveyNodes = async (
  nodes: readonly EvmNode[],
  options: { readonly chainId: number; readonly hasTags: boolean },
  signal: AbortSignal,
): Promise<Survey> => {
  const faults: string[] = [];
  const results = await Promise.all(
    nodes.map(async node => {
      if (node.isBackingOff()) return null;
      try {
        return await fetchReport(node, options.chainId, options.hasTags, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        node.backOff(error);
        faults.push(error instanceof RpcFault ? error.message : 'The node could not be reached.');
        return null;
      }
    }),
  );
  return { reports: results.filter(report => report !== null), faults };
};

/** A node this far behind the best one is stale. */
const staleBlocks = 8;

/**
 * The nodes to read from, highest head first. Leaves out stale nodes, and a node that is alone far ahead of two or more
 * others if the second one is current. Equal heads stay in the operator's order.
 */
export const freshReports = (
  reports: readonly NodeReport[],
  isCurrent: (head: Header) => boolean,
): readonly NodeReport[] => {
  const furthestFirst = [...reports].sort((a, b) => b.head.number - a.head.number);
  const [first, second, third] = furthestFirst;
  if (first === undefined) return [];
  const isAlone = third !== undefined && first.head.number > second!.head.number + staleBlocks;
  const top = isAlone && isCurrent(second!.head) ? second! : first;
  return furthestFirst.filter(
    ({ head }) => head.number <= top.head.number && head.number >= top.head.number - staleBlocks,
  );
};
