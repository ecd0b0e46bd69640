import type { Log } from '../../core/log.ts';
import { inspectTokens, type ListedToken } from './inspectTokens.ts';
import type { EvmNode } from './node.ts';
import { RpcFault } from './rpc.ts';

export type TokenInspector = {
  /** Checks the tokens at this node when a check is due. */
  inspect(node: EvmNode, signal: AbortSignal): Promise<void>;
  /** Tokens that are not as listed, by contract, with the reason; null before the first check. */
  unfit(): ReadonlyMap<string, string> | null;
};

/** Interval for checking unfit tokens again: a node may have lagged or lied, or the token may be deployed by now. */
const reinspectMs = 60_000;

type Reasons = ReadonlyMap<string, string>;

export const createTokenInspector = (options: {
  readonly caip2: string;
  readonly nodes: readonly EvmNode[];
  readonly tokens: readonly ListedToken[];
  readonly log: Log;
  readonly nowMs: () => number;
}): TokenInspector => {
  const { caip2, nodes, log, nowMs } = options;
  let unfit: Reasons | null = null;
  let inspectedMs = Number.NEGATIVE_INFINITY;

  /** One node's reasons against tokens, without the tokens that another node finds as listed. */
  const reasonsAgainst = async (first: EvmNode, tokens: readonly ListedToken[], signal: AbortSignal) => {
    let reasons: Reasons = await inspectTokens(first, tokens, signal);
    for (const node of nodes) {
      if (reasons.size === 0) break;
      if (node === first || node.isBackingOff()) continue;
      const doubted = tokens.filter(({ contract }) => reasons.has(contract));
      try {
        const confirmed = await inspectTokens(node, doubted, signal);
        reasons = new Map([...reasons].filter(([contract]) => confirmed.has(contract)));
      } catch (error) {
        if (!(error instanceof RpcFault)) throw error;
      }
    }
    return reasons;
  };

  const logChanges = (before: Reasons, now: Reasons): void => {
    for (const [contract, reason] of now) {
      if (before.get(contract) !== reason) log.error({ caip2, contract, reason }, 'a currency is disabled');
    }
    for (const contract of before.keys()) {
      if (!now.has(contract)) log.info({ caip2, contract }, 'a currency is enabled again');
    }
  };

  return {
    async inspect(node, signal) {
      const before = unfit;
      if (before !== null && (before.size === 0 || nowMs() - inspectedMs < reinspectMs)) return;
      inspectedMs = nowMs();
      const tokens = options.tokens.filter(({ contract }) => before === null || before.has(contract));
      try {
        unfit = await reasonsAgainst(node, tokens, signal);
      } catch (error) {
        // The previous result holds until a node answers.
        if (before !== null && error instanceof RpcFault) return;
        throw error;
      }
      logChanges(before ?? new Map(), unfit);
    },
    unfit: () => unfit,
  };
};
