import type { Log } from '../../core/log.ts';
import { inspectTokens, type ListedToken } from './inspectTokens.ts';
import type { EvmNode } from './node.ts';
import { RpcFault } from './rpc.ts';

export type TokenInspector = {
  /** Looks at the tokens by this node, as often as they need it. */
  inspect(node: EvmNode, signal: AbortSignal): Promise<void>;
  /** Contracts of tokens that are not as they are listed, with the reason; null before the first look. */
  unfit(): ReadonlyMap<string, string> | null;
};

/** Tokens that are unfit are looked at again so often: a node may have lagged or lied, or they may be deployed by now. */
const againMs = 60_000;

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
  let lookedMs = Number.NEGATIVE_INFINITY;

  /** What one node says against tokens, as far as no other that can be asked finds them as they are listed. */
  const reasonsAgainst = async (first: EvmNode, tokens: readonly ListedToken[], signal: AbortSignal) => {
    let reasons: Reasons = await inspectTokens(first, tokens, signal);
    for (const node of nodes) {
      if (reasons.size === 0) break;
      if (node === first || node.isResting()) continue;
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

  const tell = (before: Reasons, now: Reasons): void => {
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
      if (before !== null && (before.size === 0 || nowMs() - lookedMs < againMs)) return;
      lookedMs = nowMs();
      const tokens = options.tokens.filter(({ contract }) => before === null || before.has(contract));
      try {
        unfit = await reasonsAgainst(node, tokens, signal);
      } catch (error) {
        // What was found before holds until a node says otherwise.
        if (before !== null && error instanceof RpcFault) return;
        throw error;
      }
      tell(before ?? new Map(), unfit);
    },
    unfit: () => unfit,
  };
};
