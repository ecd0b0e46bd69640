import type { Block } from '../../core/chain.ts';
import type { Log } from '../../core/log.ts';
import type { ChainHealth, Driver } from '../driver.ts';
import { factoryEmitter, tokenEmitter } from './block.ts';
import { createFactoryInspector } from './factoryInspector.ts';
import { followChain } from './follow.ts';
import { createHeaderBook } from './headerBook.ts';
import type { ListedToken } from './inspectTokens.ts';
import { createNode, type EvmNode } from './node.ts';
import { createNodeBalances } from './nodeBalances.ts';
import type { Wake } from './pollWait.ts';
import { createRereads } from './rereads.ts';
import type { Survey } from './survey.ts';
import { createTokenInspector } from './tokenInspector.ts';

export type EvmDriverOptions = {
  readonly caip2: string;
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  /** The tokens listed on this chain, with checksummed contracts. */
  readonly tokens: readonly ListedToken[];
  /** Tokens that are read in the same way but cannot be paid in. They are not inspected: nothing depends on them. */
  readonly lookAlikes?: readonly ListedToken[];
  readonly blockTimeSeconds: number;
  /** A chain that mines only on demand: an old head is not lag, and its tags mean nothing. */
  readonly isQuiet: boolean;
  readonly wake?: Wake;
  /** Poll interval; by default half a block time, within bounds. */
  readonly pollMs?: number;
  /** Timeout of one RPC call. */
  readonly answerTimeoutMs?: number;
  readonly log: Log;
  /** Called with the place of a node in `rpcUrls` whenever it gives no usable answer. */
  readonly onNodeFault?: (index: number) => void;
  /** A monotonic clock, for back-off times. */
  readonly nowMs: () => number;
};

/** Transfers of at least this many tokens must be proven by block receipts, if the node offers them. */
const largeTokens = 10_000n;
const defaultAnswerTimeoutMs = 5_000;
const minLagSeconds = 60;
const lagBlocks = 20;
const [shortestPollMs, longestPollMs] = [1_000, 4_000];

const earlier = (a: Date, b: Date): Date => (a < b ? a : b);

type Measured = Omit<ChainHealth, 'unfitTokens' | 'refusal' | 'factory'>;

export const createEvmDriver = (options: EvmDriverOptions): Driver => {
  const { caip2, chainId, isQuiet, blockTimeSeconds, log } = options;
  const timeoutMs = options.answerTimeoutMs ?? defaultAnswerTimeoutMs;
  const headers = createHeaderBook({
    nodes: () => nodes,
    nowMs: options.nowMs,
    onUnknownFormat: ({ number, shape }, isConfirmed) =>
      log.warn({ caip2, number, fields: shape.trim(), isConfirmed }, 'block headers have an unknown format'),
  });
  const nodes: readonly EvmNode[] = options.rpcUrls.map((url, index) =>
    createNode(url, index, { timeoutMs }, options.nowMs, headers, () => options.onNodeFault?.(index)),
  );
  const read = [...options.tokens, ...(options.lookAlikes ?? [])];
  const largeFrom = new Map(read.map(({ contract, decimals }) => [contract, largeTokens * 10n ** BigInt(decimals)]));
  const isLarge = (contract: string, amount: bigint): boolean => amount >= (largeFrom.get(contract) ?? 0n);
  const emitters = [...read.map(({ contract }) => tokenEmitter(contract)), factoryEmitter];
  const listed = new Set(read.map(({ contract }) => contract));
  const quorum = Math.min(2, nodes.length);
  const twiceABlockMs = Math.min(Math.max((blockTimeSeconds * 1000) / 2, shortestPollMs), longestPollMs);
  const { pollMs = twiceABlockMs } = options;
  let health: Measured | null = null;
  const inspector = createTokenInspector({ ...options, nodes });
  const factory = createFactoryInspector({ nodes, hasTags: !isQuiet, nowMs: options.nowMs });

  const allowedLagSeconds = Math.max(minLagSeconds, lagBlocks * blockTimeSeconds);
  const lagOf = (head: Block): number => (isQuiet ? 0 : Math.max(0, Math.round(Date.now() / 1000 - head.timestamp)));

  const judge = ({ reports, faults }: Survey): Measured => {
    const heads = reports.map(({ head }) => head);
    const best = heads.toSorted((a, b) => b.number - a.number)[0];
    if (best === undefined) {
      const reason = faults[0] ?? 'No node answers.';
      return { status: 'down', reason, latestBlock: null, lagSeconds: null };
    }
    const lagSeconds = lagOf(best);
    const measured = { latestBlock: best.number, lagSeconds };
    const refusal = headers.refusal();
    if (refusal !== null) return { ...measured, status: 'degraded', reason: refusal };
    if (lagSeconds > allowedLagSeconds) {
      return { ...measured, status: 'degraded', reason: `The newest block is ${lagSeconds} s old.` };
    }
    if (reports.length < quorum) {
      return { ...measured, status: 'degraded', reason: 'Only one node answers; payments complete once two agree.' };
    }
    // If no node has the tag, the network has none.
    const tagged = reports.filter(({ finalized }) => finalized !== null).length;
    if (tagged > 0 && tagged < quorum) {
      return {
        ...measured,
        status: 'degraded',
        reason: 'Only one node reports the finalized block; payments complete once two do.',
      };
    }
    return { ...measured, status: 'operational', reason: null };
  };

  return {
    contracts: [...listed],
    follow: (cursor: Block | null, host, signal) =>
      followChain(
        cursor,
        host,
        {
          chainId,
          nodes,
          quorum,
          hasTags: !isQuiet,
          emitters,
          isLarge,
          pollMs,
          ...(options.wake === undefined ? {} : { wake: options.wake }),
          inspect: async (node, abort) => {
            // First, so that the network is not offered for payment before this is known.
            await factory.inspect(node, abort);
            await inspector.inspect(node, abort);
          },
          isCurrent: head => lagOf(head) <= allowedLagSeconds,
          // A block that this head does not have yet may be older than the poll. Only a quiet chain's head may rest.
          readUpTo: (head, startedAt) => (isQuiet ? startedAt : earlier(startedAt, new Date(head.timestamp * 1000))),
          onSurvey: survey => {
            // If all nodes are backing off, none was asked, and the previous health holds.
            const isAnyAsked = survey.reports.length + survey.faults.length > 0;
            if (isAnyAsked || health === null) health = judge(survey);
          },
          onFault: message => log.warn({ caip2, fault: message }, 'a node gave no usable answer'),
        },
        signal,
      ),
    ...createRereads({ nodes, quorum, emitters, listed, isLarge }),
    balances: createNodeBalances(nodes, quorum),
    // Until the tokens are inspected, the network must not be offered for payment.
    health: () => {
      const unfitTokens = inspector.unfit();
      if (unfitTokens === null && health?.status !== 'down') return null;
      return (
        health && {
          ...health,
          unfitTokens: unfitTokens ?? new Map(),
          refusal: headers.refusal(),
          factory: factory.state(),
        }
      );
    },
  };
};
