import type { Block, Tags } from '../../core/chain.ts';
import type { ChainStep, DriverHost } from '../driver.ts';
import { linkOf } from '../linkage.ts';
import { createAgreement, type Voters } from './agreement.ts';
import type { Emitter, Header } from './block.ts';
import { fetchNearHead, fetchRange, type LoggedBlock } from './fetchBlocks.ts';
import { findFork } from './findFork.ts';
import { type WatchOptions, watchBlocks } from './movements.ts';
import type { EvmNode } from './node.ts';
import { createPollWait, type Wake } from './pollWait.ts';
import { inPortions, readAhead } from './readAhead.ts';
import { RpcFault } from './rpc.ts';
import { freshReports, type NodeReport, type Survey, surveyNodes } from './survey.ts';
import { otherNodes, verifyWithWitnesses } from './witness.ts';

export type FollowOptions = {
  readonly chainId: number;
  readonly nodes: readonly EvmNode[];
  /** How many nodes must have the same block before it may be final. */
  readonly quorum: number;
  readonly hasTags: boolean;
  /** Listed tokens and the factory. */
  readonly emitters: readonly Emitter[];
  readonly isLarge: WatchOptions['isLarge'];
  readonly pollMs: number;
  /** Shortens the wait for the next poll; polling works without it. */
  readonly wake?: Wake;
  /** Checks the tokens before anything is read, and checks unfit ones again from time to time. */
  readonly inspect: (node: EvmNode, signal: AbortSignal) => Promise<void>;
  /** Whether a head is recent. An old head says nothing about the time since. */
  readonly isCurrent: (head: Header) => boolean;
  /** The time up to which the chain is read once this head is, if the poll began at `startedAt`. */
  readonly readUpTo: (head: Header, startedAt: Date) => Date;
  readonly onSurvey: (survey: Survey) => void;
  readonly onFault: (message: string) => void;
};

/** Blocks more than this far below the head are read by range, the others one by one by hash. */
const nearHead = 32;
const rangeBlocks = 100;
/** The most blocks in one step near the head. */
const stepBlocks = 64;
/** How far below the head reading starts: a reorg of the newest blocks must find a common ancestor. */
const firstDepth = 16;

const blockOf = ({ number, hash, parentHash, timestamp }: Header | Block): Block => ({
  number,
  hash,
  parentHash,
  timestamp,
});

type Height = number | null;
const higher = (a: Height, b: Height): Height => (a === null || (b !== null && b > a) ? b : a);
const lower = (a: Height, b: number): Height => (a === null ? null : Math.min(a, b));

/** Tags do not apply to unprocessed blocks, which may come from another branch. */
const capTags = ({ number }: Block, { safe, finalized, agreed }: Tags): Tags => ({
  safe: lower(safe, number),
  finalized: lower(finalized, number),
  agreed: lower(agreed, number),
});

const noTags = { safe: null, finalized: null };

/** `doubted`: the node is on another branch, and too few nodes can say which branch is right. */
type NodeSteps = AsyncGenerator<ChainStep, 'done' | 'doubted'>;

const onAnotherBranch = (): RpcFault =>
  new RpcFault('malformed', undefined, 'The node is on another branch than the others.');

export async function* followChain(
  start: Block | null,
  host: DriverHost,
  options: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<ChainStep> {
  const { nodes, emitters, hasTags, chainId } = options;
  const listed = new Set(emitters.map(({ contract }) => contract));
  let cursor = start;
  const waitForPoll = createPollWait(options.pollMs, options.wake, signal);
  const agreement = createAgreement(host, options.quorum, signal);
  /** Blocks per request. With more blocks it is more likely that one bad answer wastes the whole request. */
  let batchBlocks = stepBlocks;
  let tags: Tags = { safe: null, finalized: host.finalizedHeight(), agreed: null };
  /** The tags of this poll, from nodes on our branch. */
  let reportedTags: Pick<Tags, 'safe' | 'finalized'> = noTags;
  /** Nodes already reported as doubted since the last block. */
  const doubted = new Set<EvmNode>();

  const watch = async (node: EvmNode, blocks: readonly LoggedBlock[]) => {
    const { isLarge, quorum } = options;
    const watched = await watchBlocks(
      node,
      blocks,
      { listed, paymentAddresses: host.paymentAddresses, isLarge },
      signal,
    );
    return quorum <= 1 ? watched : verifyWithWitnesses(watched, otherNodes(node, nodes), signal);
  };

  const succeed = (node: EvmNode): void => {
    batchBlocks = Math.min(stepBlocks, batchBlocks * 2);
    node.markSuccess();
  };

  /**
   * A node that lags does not lower the tags. With several nodes, one alone does not make its blocks final: a correct
   * node would then seem to change final blocks.
   */
  const tagsNow = (agreed = tags.agreed): Tags => {
    const reached = options.quorum <= 1 ? Number.MAX_SAFE_INTEGER : agreed;
    return {
      safe: higher(tags.safe, reportedTags.safe),
      finalized: higher(tags.finalized, reached === null ? null : lower(reportedTags.finalized, reached)),
      agreed: reached,
    };
  };

  /**
   * Our stored final block if the node calls another block at its height final, else null. Blocks above our own
   * finalized height may still change.
   */
  const finalityConflict = async ({ finalized }: NodeReport): Promise<Block | null> => {
    if (finalized === null || finalized.number > (host.finalizedHeight() ?? -1)) return null;
    const stored = await host.storedBlock(finalized.number);
    return stored?.hash === finalized.hash ? null : stored;
  };

  /** The next steps of one node's chain, up to its head. */
  async function* advance(report: NodeReport, others: readonly NodeReport[], block: Block): AsyncGenerator<ChainStep> {
    const { node, head } = report;
    let from = block;
    if (head.number - from.number > nearHead) {
      for await (const step of catchUp(report, others, from)) {
        yield step;
        from = step.blocks.at(-1)!;
      }
    }
    while (from.number < head.number) {
      const to = Math.min(head.number, from.number + batchBlocks);
      const fetched = await fetchNearHead(node, { from: from.number + 1, to }, signal);
      if (fetched[0]!.parentHash !== from.hash) return;
      if (to === head.number && fetched.at(-1)!.hash !== head.hash) return;
      for (const blocks of inPortions(await watch(node, fetched))) {
        yield { kind: 'blocks', rollbackTo: null, blocks, tags: tagsNow() };
      }
      succeed(node);
      from = blockOf(fetched.at(-1)!);
    }
  }

  /** Reads ranges far below the head. */
  async function* catchUp(
    { node, head }: NodeReport,
    others: readonly NodeReport[],
    block: Block,
  ): AsyncGenerator<Extract<ChainStep, { kind: 'blocks' }>> {
    const end = head.number - nearHead / 2;
    const witnesses = others.filter(other => other.node !== node && other.head.number >= end);
    const ranges = readAhead(block, end, {
      width: () => Math.min(rangeBlocks, batchBlocks * 2),
      fetch: range => {
        const witness = witnesses.find(other => !other.node.isBackingOff())?.node ?? null;
        return fetchRange(range, { node, witness, emitters }, signal);
      },
      watch: fetched => watch(node, fetched),
    });
    for await (const read of ranges) {
      for (const blocks of inPortions(read)) yield { kind: 'blocks', rollbackTo: null, blocks, tags: tagsNow() };
      succeed(node);
    }
  }

  /** Switches to the node's branch unless our block stands; then the node is at fault. */
  async function* switchBranch(report: NodeReport, voters: Voters, block: Block): NodeSteps {
    const { node, head } = report;
    const newest = await agreement.judge(report, voters, block);
    if (newest === 'stands') throw onAnotherBranch();
    const fork = await findFork(host, node, { head, block }, signal);
    // That the others left our newest block does not mean that they left all that this node lacks: an ordinary reorg may
    // have taken that block, while this node is on a branch of its own.
    const lowest = await agreement.judge(report, voters, fork.disputed);
    if (lowest === 'stands') throw onAnotherBranch();
    const isDoubtful = newest === 'doubtful' || lowest === 'doubtful';
    if ('reason' in fork) {
      // One node alone does not halt a chain that has several.
      if (isDoubtful) return 'doubted';
      yield { kind: 'halt', reason: fork.reason };
      return 'done';
    }
    const { ancestor } = fork;
    // Nor does it roll back blocks that two nodes agreed on, with payments completed by them.
    if (isDoubtful && ancestor.number < (tags.agreed ?? -1)) return 'doubted';
    // All blocks up to our old height in one step, so that a transfer moved to another block never counts as gone.
    const to = Math.min(head.number, Math.max(block.number, ancestor.number + 1));
    const fetched = await fetchNearHead(node, { from: ancestor.number + 1, to }, signal);
    if (fetched[0]!.parentHash !== ancestor.hash) return 'done';
    // Above the fork, the tags and the agreement belong to the old branch.
    reportedTags = noTags;
    tags = { ...tags, safe: lower(tags.safe, ancestor.number), agreed: lower(tags.agreed, ancestor.number) };
    yield { kind: 'blocks', rollbackTo: ancestor, blocks: await watch(node, fetched), tags: tagsNow() };
    return 'done';
  }

  /** All steps that one node gives in this poll. */
  async function* followNode(primary: NodeReport, voters: Voters, startedAt: Date): NodeSteps {
    await options.inspect(primary.node, signal);
    if (cursor === null) {
      const number = Math.max(0, primary.head.number - firstDepth);
      const fetched = await fetchNearHead(primary.node, { from: number, to: number }, signal);
      yield { kind: 'blocks', rollbackTo: null, blocks: await watch(primary.node, fetched), tags: tagsNow() };
      return 'done';
    }
    const conflict = await finalityConflict(primary);
    if (conflict !== null) {
      const verdict = await agreement.judge(primary, voters, conflict);
      if (verdict === 'stands') throw onAnotherBranch();
      if (verdict === 'doubtful') return 'doubted';
      const reason = `The node has finalized another block ${conflict.number} than the one that was processed.`;
      yield { kind: 'halt', reason };
      return 'done';
    }
    const stored = primary.head.number < cursor.number ? await host.storedBlock(primary.head.number) : null;
    const link = linkOf(cursor, stored, primary.head);
    if (link === 'fork' || (link === 'gap' && !(await agreement.hasBlock(primary, cursor)))) {
      return yield* switchBranch(primary, voters, cursor);
    }
    // Far behind the head, not every poll reaches it. Blocks read so far may be agreed on already.
    if (link === 'gap')
      tags = { ...tags, agreed: higher(tags.agreed, await agreement.agreedHeight(voters.fresh, cursor)) };
    if (link !== 'known') yield* advance(primary, voters.fresh, cursor);
    // A node that had the cursor when this poll began may not be on the branch of the blocks read since.
    if (link !== 'known') reportedTags = await agreement.agreedTags(voters.all, cursor);
    for (const { node } of voters.fresh) node.markSuccess();
    // A node behind our cursor has not shown that there is nothing above it.
    const isCaughtUp = primary.head.number === cursor.number && options.isCurrent(primary.head);
    const agreed = higher(tags.agreed, await agreement.agreedHeight(voters.fresh, cursor));
    const caughtUpAt = isCaughtUp ? options.readUpTo(primary.head, startedAt) : null;
    yield { kind: 'idle', at: cursor, tags: tagsNow(agreed), caughtUpAt };
    return 'done';
  }

  async function* poll(): AsyncGenerator<ChainStep> {
    const startedAt = await host.now();
    const survey = await surveyNodes(nodes, { chainId, hasTags }, signal);
    options.onSurvey(survey);
    for (const fault of survey.faults) options.onFault(fault);
    reportedTags = cursor === null ? noTags : await agreement.agreedTags(survey.reports, cursor);
    const fresh = freshReports(survey.reports, options.isCurrent);
    for (const report of fresh) {
      try {
        if ((yield* followNode(report, { all: survey.reports, fresh }, startedAt)) === 'done') return;
        // The node may be right, so it does not back off: it must be there when the next node reports the same.
        if (!doubted.has(report.node)) options.onFault(onAnotherBranch().message);
        doubted.add(report.node);
      } catch (error) {
        if (signal.aborted || !(error instanceof RpcFault)) throw error;
        report.node.backOff(error);
        batchBlocks = Math.max(1, batchBlocks >> 2);
        options.onFault(error.message);
        return;
      }
    }
  }

  while (!signal.aborted) {
    let isMoved = false;
    for await (const step of poll()) {
      yield step;
      if (step.kind === 'blocks') {
        cursor = blockOf(step.blocks.at(-1)!);
        doubted.clear();
        isMoved = true;
      }
      if (step.kind !== 'halt' && cursor !== null) tags = capTags(cursor, step.tags);
    }
    if (!isMoved) await waitForPoll(cursor?.hash ?? null);
  }
}
