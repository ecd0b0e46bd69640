import type { Block } from '../../core/chain.ts';
import type { Log } from '../../core/log.ts';
import type { ChainHealth, Driver } from '../driver.ts';
import { readBalances } from './balances.ts';
import { factoryEmitter, tokenEmitter } from './block.ts';
import { fetchNearHead } from './fetchBlocks.ts';
import { followChain } from './follow.ts';
import type { ListedToken } from './inspectTokens.ts';
import { watchBlocks } from './movements.ts';
import type { Wake } from './news.ts';
import { createNode, type EvmNode, isStateGone } from './node.ts';
import { RpcFault } from './rpc.ts';
import type { Survey } from './survey.ts';
import { createTokenInspector } from './tokenInspector.ts';
import { heldByWitnesses, witnessesBeside } from './witness.ts';

export type EvmDriverOptions = {
  readonly caip2: string;
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  /** Tokens that are listed on this chain, by their checksummed address. */
  readonly tokens: readonly ListedToken[];
  readonly blockTimeSeconds: number;
  /** A chain that mines only when there is something to mine: its silence is not lag, and its tags mean nothing. */
  readonly isQuiet: boolean;
  readonly wake?: Wake;
  /** How often nodes are asked for their heads; by default twice a block, within bounds. */
  readonly pollMs?: number;
  /** How long a node may take for one answer. */
  readonly answerTimeoutMs?: number;
  readonly log: Log;
  /** A clock that only goes forward, for pauses. */
  readonly nowMs: () => number;
};

/** From so many of a token on, a transfer is proven by the receipts of its block where the node offers them. */
const largeTokens = 10_000n;
const longestAnswerMs = 5_000;
const leastLagSeconds = 60;
const lagBlocks = 20;
const [shortestPollMs, longestPollMs] = [1_000, 4_000];

/** Whoever says more than another may be lying. */
const lowestOf = (
  holders: readonly string[],
  answers: readonly ReadonlyMap<string, bigint>[],
): ReadonlyMap<string, bigint> =>
  new Map(
    holders.map(holder => {
      const told = answers.map(answer => answer.get(holder)!);
      return [holder, told.reduce((least, balance) => (balance < least ? balance : least))];
    }),
  );

type Measured = Omit<ChainHealth, 'unfitTokens'>;

export const createEvmDriver = (options: EvmDriverOptions): Driver => {
  const { caip2, chainId, isQuiet, blockTimeSeconds, log } = options;
  const timeoutMs = options.answerTimeoutMs ?? longestAnswerMs;
  const nodes = options.rpcUrls.map((url, index) => createNode(url, index, { timeoutMs }, options.nowMs));
  const largeFrom = new Map(
    options.tokens.map(({ contract, decimals }) => [contract, largeTokens * 10n ** BigInt(decimals)]),
  );
  const isLarge = (contract: string, amount: bigint): boolean => amount >= (largeFrom.get(contract) ?? 0n);
  const listed = new Set(options.tokens.map(({ contract }) => contract));
  const anyNode = (): EvmNode => nodes.find(node => !node.isResting()) ?? nodes[0]!;
  const quorum = Math.min(2, nodes.length);
  const twiceABlockMs = Math.min(Math.max((blockTimeSeconds * 1000) / 2, shortestPollMs), longestPollMs);
  const { pollMs = twiceABlockMs } = options;
  let health: Measured | null = null;
  const inspector = createTokenInspector({ ...options, nodes });

  /** In the order in which they are asked for balances: one that fails goes to the end. */
  let asked = [...nodes];
  const coinBalances: Driver['coinBalances'] = async ({ hash }, holders, voices, signal) => {
    const awake = asked.filter(node => !node.isResting());
    const answers: ReadonlyMap<string, bigint>[] = [];
    for (const node of awake.length > 0 ? awake : asked.slice(0, 1)) {
      try {
        answers.push(await readBalances(node, { token: null, holders, blockHash: hash }, signal));
      } catch (error) {
        if (isStateGone(error)) continue;
        asked = [...asked.filter(other => other !== node), node];
        throw error;
      }
      if (answers.length === (voices === 'one' ? 1 : quorum)) return lowestOf(holders, answers);
    }
    return null;
  };

  const allowedLagSeconds = Math.max(leastLagSeconds, lagBlocks * blockTimeSeconds);
  const lagOf = (head: Block): number => (isQuiet ? 0 : Math.max(0, Math.round(Date.now() / 1000 - head.timestamp)));

  const judge = ({ sightings, complaints }: Survey): Measured => {
    const heads = sightings.map(({ head }) => head);
    const best = heads.toSorted((a, b) => b.number - a.number)[0];
    if (best === undefined) {
      const reason = complaints[0] ?? 'No node answers.';
      return { status: 'down', reason, latestBlock: null, lagSeconds: null };
    }
    const lagSeconds = lagOf(best);
    const measured = { latestBlock: best.number, lagSeconds };
    if (lagSeconds > allowedLagSeconds) {
      return { ...measured, status: 'degraded', reason: `The newest block is ${lagSeconds} s old.` };
    }
    if (sightings.length < quorum) {
      return { ...measured, status: 'degraded', reason: 'Only one node answers; payments complete once two agree.' };
    }
    // Where none has the tag, the network does without.
    const tagged = sightings.filter(({ finalized }) => finalized !== null).length;
    if (tagged > 0 && tagged < quorum) {
      return { ...measured, status: 'degraded', reason: 'Only one node tells what is final; two have to.' };
    }
    return { ...measured, status: 'operational', reason: null };
  };

  return {
    follow: (cursor: Block | null, surroundings, signal) =>
      followChain(
        cursor,
        surroundings,
        {
          chainId,
          nodes,
          quorum,
          hasTags: !isQuiet,
          emitters: [...options.tokens.map(({ contract }) => tokenEmitter(contract)), factoryEmitter],
          isLarge,
          pollMs,
          ...(options.wake === undefined ? {} : { wake: options.wake }),
          inspect: inspector.inspect,
          isCurrent: head => lagOf(head) <= allowedLagSeconds,
          observe: survey => {
            // Where all are left alone nobody was asked, and what was known before holds.
            const isAnyAsked = survey.sightings.length + survey.complaints.length > 0;
            if (isAnyAsked || health === null) health = judge(survey);
          },
          complain: message => log.warn({ caip2, fault: message }, 'a node gave no usable answer'),
        },
        signal,
      ),
    async reread(number, { known }, signal) {
      try {
        // Of one node: what two say of a block may be of two branches.
        const node = anyNode();
        const fetched = await fetchNearHead(node, { from: number, to: number }, signal);
        const blocks = await watchBlocks(node, fetched, { listed, known, isLarge }, signal);
        const held = quorum <= 1 ? blocks : await heldByWitnesses(blocks, witnessesBeside(node, nodes), signal);
        return held[0] ?? null;
      } catch (error) {
        if (error instanceof RpcFault) return null;
        throw error;
      }
    },
    coinBalances,
    // Until the tokens are inspected nobody shall be told that they can be paid in.
    health: () => {
      const unfitTokens = inspector.unfit();
      if (unfitTokens === null && health?.status !== 'down') return null;
      return health && { ...health, unfitTokens: unfitTokens ?? new Map() };
    },
  };
};
