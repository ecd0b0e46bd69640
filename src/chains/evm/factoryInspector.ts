import type { FactoryState } from '../../core/chain.ts';
import { codeCall, judgeFactory, outranks } from './factory.ts';
import { forwarderFactory } from './forwarder.ts';
import type { EvmNode } from './node.ts';
import { RpcFault } from './rpc.ts';

export type FactoryInspector = {
  /** Asks this node first, when a check is due. */
  inspect(node: EvmNode, signal: AbortSignal): Promise<void>;
  /** Null until a node has answered. */
  state(): FactoryState | null;
};

/** Interval of checks until the factory is found. An operator who has just deployed it waits for this. */
const absentMs = 10_000;
/** Interval until it is in a finalized block. Code in such a block stays, so checks end there. */
const presentMs = 60_000;

type Finding = { readonly state: FactoryState; readonly isFinal: boolean };

const ask = async (node: EvmNode, hasTags: boolean, signal: AbortSignal): Promise<Finding | null> => {
  const tags = hasTags ? ['latest', 'finalized'] : ['latest'];
  try {
    const calls = tags.map(tag => codeCall(forwarderFactory, tag));
    const [latest, finalized = latest] = await node.callEach(calls, signal);
    if (latest instanceof RpcFault) return null;
    // Nodes without the tag refuse it. The factory is then looked for again and again, which costs little.
    const isFinal = !(finalized instanceof RpcFault) && judgeFactory(finalized) === 'present';
    return { state: judgeFactory(latest), isFinal };
  } catch (error) {
    if (error instanceof RpcFault) return null;
    throw error;
  }
};

/** Measures whether a chain has the forwarder factory. */
export const createFactoryInspector = (options: {
  readonly nodes: readonly EvmNode[];
  readonly hasTags: boolean;
  readonly nowMs: () => number;
}): FactoryInspector => {
  const { nodes, hasTags, nowMs } = options;
  let found: Finding | null = null;
  let dueMs = Number.NEGATIVE_INFINITY;

  /** The answer that counts for most. Ends at a node that has the factory. */
  const askAll = async (first: EvmNode, signal: AbortSignal): Promise<Finding | null> => {
    let answer: Finding | null = null;
    for (const node of [first, ...nodes.filter(other => other !== first && !other.isBackingOff())]) {
      const finding = await ask(node, hasTags, signal);
      if (finding && (!answer || outranks(finding.state, answer.state))) answer = finding;
      if (answer?.state === 'present') break;
    }
    return answer;
  };

  return {
    async inspect(node, signal) {
      if (found?.isFinal || nowMs() < dueMs) return;
      const answer = await askAll(node, signal);
      dueMs = nowMs() + (answer?.state === 'present' ? presentMs : absentMs);
      found = answer ?? found;
    },
    state: () => found?.state ?? null,
  };
};
