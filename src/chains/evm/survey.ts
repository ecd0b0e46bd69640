import { type Header, readHeader } from './block.ts';
import type { EvmNode } from './node.ts';
import { readNumber } from './reading.ts';
import { RpcFault } from './rpc.ts';

/** What a node says at the beginning of a poll. */
export type Sighting = {
  readonly node: EvmNode;
  readonly head: Header;
  readonly safe: Header | null;
  readonly finalized: Header | null;
};

export type Survey = {
  /** Of the nodes that answer for this chain, in the operator's order. */
  readonly sightings: readonly Sighting[];
  /** Why the others do not count, for people. */
  readonly complaints: readonly string[];
};

const blockAt = (tag: string) => ({ method: 'eth_getBlockByNumber', params: [tag, false] });

/** A node without the tag says so in its own way; that is no fault of its own. */
const readTagged = (answer: unknown): Header | null =>
  answer === null || answer === undefined || answer instanceof RpcFault ? null : readHeader(answer);

const see = async (node: EvmNode, chainId: number, hasTags: boolean, signal: AbortSignal): Promise<Sighting> => {
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
  return { node, head: readHeader(latest), safe: readTagged(safe), finalized: readTagged(finalized) };
};

/** Asks all nodes that are not resting where they stand. */
export const surveyNodes = async (
  nodes: readonly EvmNode[],
  options: { readonly chainId: number; readonly hasTags: boolean },
  signal: AbortSignal,
): Promise<Survey> => {
  const complaints: string[] = [];
  const seen = await Promise.all(
    nodes.map(async node => {
      if (node.isResting()) return null;
      try {
        return await see(node, options.chainId, options.hasTags, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        node.rest(error);
        complaints.push(error instanceof RpcFault ? error.message : 'The node could not be asked.');
        return null;
      }
    }),
  );
  return { sightings: seen.filter(sighting => sighting !== null), complaints };
};

/** A node so far behind the best of them is not asked for more. */
const staleBlocks = 8;

/**
 * The nodes worth asking, the furthest first, without those that lag behind it, and without one of three or more that is
 * alone far ahead while the others are of now. Equals stay in the operator's order.
 */
export const freshOf = (sightings: readonly Sighting[], isCurrent: (head: Header) => boolean): readonly Sighting[] => {
  const furthestFirst = [...sightings].sort((a, b) => b.head.number - a.head.number);
  const [first, second, third] = furthestFirst;
  if (first === undefined) return [];
  const isAlone = third !== undefined && first.head.number > second!.head.number + staleBlocks;
  const top = isAlone && isCurrent(second!.head) ? second! : first;
  return furthestFirst.filter(
    ({ head }) => head.number <= top.head.number && head.number >= top.head.number - staleBlocks,
  );
};
