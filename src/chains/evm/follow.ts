import type { Block, Tags } from '../../core/chain.ts';
import type { ChainStep, Surroundings } from '../driver.ts';
import { linkOf } from '../linkage.ts';
import { createAgreement, type Voters } from './agreement.ts';
import type { Emitter, Header } from './block.ts';
import { fetchHeaders, fetchNearHead, fetchRange, type LoggedBlock } from './fetchBlocks.ts';
import { type WatchOptions, watchBlocks } from './movements.ts';
import { createNews, type Wake } from './news.ts';
import type { EvmNode } from './node.ts';
import { inPortions, readAhead } from './readAhead.ts';
import { RpcFault } from './rpc.ts';
import { freshOf, type Sighting, type Survey, surveyNodes } from './survey.ts';
import { heldByWitnesses, witnessesBeside } from './witness.ts';

export type FollowOptions = {
  readonly chainId: number;
  readonly nodes: readonly EvmNode[];
  /** How many nodes must name the same block before it may be final. */
  readonly quorum: number;
  readonly hasTags: boolean;
  /** Listed tokens and the factory. */
  readonly emitters: readonly Emitter[];
  readonly isLarge: WatchOptions['isLarge'];
  readonly pollMs: number;
  /** Polling does not depend on it. */
  readonly wake?: Wake;
  /** Looks at the tokens before anything is read, and now and then at those that are not as they are listed. */
  readonly inspect: (node: EvmNode, signal: AbortSignal) => Promise<void>;
  /** Whether a head is of now: one that is old says nothing about the time since. */
  readonly isCurrent: (head: Header) => boolean;
  readonly observe: (survey: Survey) => void;
  readonly complain: (message: string) => void;
};

/** Blocks below the head by so many are read by range; the others one by one, by hash. */
const nearHead = 32;
const rangeBlocks = 100;
/** Blocks in one step near the head, while all goes well. */
const stepBlocks = 64;
const headersAtOnce = 16;
/** The first block is so far below the head: a reorg of the newest blocks must find one that it leaves in place. */
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

/** Tags say nothing of blocks that are yet to be processed: those may come from another branch. */
const upTo = ({ number }: Block, { safe, finalized, agreed }: Tags): Tags => ({
  safe: lower(safe, number),
  finalized: lower(finalized, number),
  agreed: lower(agreed, number),
});

const unsaid = { safe: null, finalized: null };

/** `doubted`: it tells of another branch, and nobody can be asked who would tell whether it is right. */
type Asked = 'heard' | 'doubted';

const onAnotherBranch = (): RpcFault =>
  new RpcFault('malformed', undefined, 'The node is on another branch than the others.');

export async function* followChain(
  cursor: Block | null,
  surroundings: Surroundings,
  options: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<ChainStep> {
  const { nodes, emitters, hasTags, chainId } = options;
  const listed = new Set(emitters.map(({ contract }) => contract));
  let at = cursor;
  const news = createNews(options.pollMs, options.wake, signal);
  const agreement = createAgreement(surroundings, options.quorum, signal);
  /** How many blocks are asked for at once. The more, the more likely one of many answers is bad and all are in vain. */
  let reach = stepBlocks;
  let tags: Tags = { safe: null, finalized: surroundings.finalized(), agreed: null };
  /** The tags that the nodes on our branch gave in this poll. */
  let said: Pick<Tags, 'safe' | 'finalized'> = unsaid;
  /** Those that were complained about for it since the last block. */
  const doubted = new Set<EvmNode>();

  const watch = async (node: EvmNode, blocks: readonly LoggedBlock[]) => {
    const { isLarge, quorum } = options;
    const watched = await watchBlocks(node, blocks, { listed, known: surroundings.known, isLarge }, signal);
    return quorum <= 1 ? watched : heldByWitnesses(watched, witnessesBeside(node, nodes), signal);
  };

  const succeed = (node: EvmNode): void => {
    reach = Math.min(stepBlocks, reach * 2);
    node.praise();
  };

  /**
   * A node that lags takes nothing back. Where several are asked, one alone does not make its blocks final: another that
   * is right would then look like a chain that changes what must not change.
   */
  const tagsNow = (agreed = tags.agreed): Tags => {
    const reached = options.quorum <= 1 ? Number.MAX_SAFE_INTEGER : agreed;
    return {
      safe: higher(tags.safe, said.safe),
      finalized: higher(tags.finalized, reached === null ? null : lower(said.finalized, reached)),
      agreed: reached,
    };
  };

  /**
   * The block that was final here and in whose place the node calls another one so: blocks that must not change have
   * changed. One that was not final yet may well have been left by the chain while nobody looked.
   */
  const finalityConflict = async ({ finalized }: Sighting): Promise<Block | null> => {
    if (finalized === null || finalized.number > (surroundings.finalized() ?? -1)) return null;
    const stored = await surroundings.stored(finalized.number);
    return stored?.hash === finalized.hash ? null : stored;
  };

  /** The highest block that the node's chain and ours have in common; a text where nobody but the operator can decide. */
  const findAncestor = async (node: EvmNode, head: Header, block: Block): Promise<Block | string> => {
    let to = Math.min(head.number, block.number);
    let above: Header | null = null;
    for (;;) {
      const from = Math.max(0, to - headersAtOnce + 1);
      const headers = await fetchHeaders(node, { from, to }, signal);
      if (above !== null && headers.at(-1)!.hash !== above.parentHash) {
        throw new RpcFault('malformed', undefined, 'The chain of the node changed while it was read.');
      }
      for (const header of headers.toReversed()) {
        const stored = header.number === block.number ? block : await surroundings.stored(header.number);
        if (stored === null) return `A reorg goes below block ${header.number + 1}, the oldest that is kept.`;
        if (stored.hash !== header.hash) continue;
        const finalized = surroundings.finalized();
        if (finalized !== null && stored.number < finalized) {
          return `A reorg goes below block ${finalized}, which was final.`;
        }
        return stored;
      }
      if (from === 0) return 'The chain of the node has another beginning.';
      above = headers[0]!;
      to = from - 1;
    }
  };

  /** The next steps that one node's chain gives, up to its head. */
  async function* advance(sighting: Sighting, others: readonly Sighting[], block: Block): AsyncGenerator<ChainStep> {
    const { node, head } = sighting;
    let from = block;
    if (head.number - from.number > nearHead) {
      for await (const step of catchUp(sighting, others, from)) {
        yield step;
        from = step.blocks.at(-1)!;
      }
    }
    while (from.number < head.number) {
      const to = Math.min(head.number, from.number + reach);
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

  /** Ranges far below the head. */
  async function* catchUp(
    { node, head }: Sighting,
    others: readonly Sighting[],
    block: Block,
  ): AsyncGenerator<Extract<ChainStep, { kind: 'blocks' }>> {
    const end = head.number - nearHead / 2;
    const witnesses = others.filter(other => other.node !== node && other.head.number >= end);
    const ranges = readAhead(block, end, {
      width: () => Math.min(rangeBlocks, reach * 2),
      fetch: range => {
        const witness = witnesses.find(other => !other.node.isResting())?.node ?? null;
        return fetchRange(range, { node, witness, emitters }, signal);
      },
      watch: fetched => watch(node, fetched),
    });
    for await (const read of ranges) {
      for (const blocks of inPortions(read)) yield { kind: 'blocks', rollbackTo: null, blocks, tags: tagsNow() };
      succeed(node);
    }
  }

  /** Follows another branch where more nodes are on it than on ours; otherwise this node is left alone. */
  async function* switchBranch(sighting: Sighting, voters: Voters, block: Block): AsyncGenerator<ChainStep, Asked> {
    const { node, head } = sighting;
    const verdict = await agreement.judge(sighting, voters, block);
    if (verdict === 'stands') throw onAnotherBranch();
    const ancestor = await findAncestor(node, head, block);
    if (typeof ancestor === 'string') {
      // One node alone does not stop a chain that several were asked about.
      if (verdict === 'doubtful') return 'doubted';
      yield { kind: 'halt', reason: ancestor };
      return 'heard';
    }
    // Nor does it take back what two had agreed on, and with it what was completed.
    if (verdict === 'doubtful' && ancestor.number < (tags.agreed ?? -1)) return 'doubted';
    // As far as we were, in one step: what was only moved to another block is not seen as gone.
    const to = Math.min(head.number, Math.max(block.number, ancestor.number + 1));
    const fetched = await fetchNearHead(node, { from: ancestor.number + 1, to }, signal);
    if (fetched[0]!.parentHash !== ancestor.hash) return 'heard';
    // What was safe, and what the nodes said and agreed on, above the fork was the other branch.
    said = unsaid;
    tags = { ...tags, safe: lower(tags.safe, ancestor.number), agreed: lower(tags.agreed, ancestor.number) };
    yield { kind: 'blocks', rollbackTo: ancestor, blocks: await watch(node, fetched), tags: tagsNow() };
    return 'heard';
  }

  /** All that one node has to say now. */
  async function* ask(primary: Sighting, voters: Voters, begunAt: Date): AsyncGenerator<ChainStep, Asked> {
    await options.inspect(primary.node, signal);
    if (at === null) {
      const number = Math.max(0, primary.head.number - firstDepth);
      const fetched = await fetchNearHead(primary.node, { from: number, to: number }, signal);
      yield { kind: 'blocks', rollbackTo: null, blocks: await watch(primary.node, fetched), tags: tagsNow() };
      return 'heard';
    }
    const conflict = await finalityConflict(primary);
    if (conflict !== null) {
      const verdict = await agreement.judge(primary, voters, conflict);
      if (verdict === 'stands') throw onAnotherBranch();
      if (verdict === 'doubtful') return 'doubted';
      const reason = `The node calls another block ${conflict.number} final than the one that was processed.`;
      yield { kind: 'halt', reason };
      return 'heard';
    }
    const stored = primary.head.number < at.number ? await surroundings.stored(primary.head.number) : null;
    const link = linkOf(at, stored, primary.head);
    if (link === 'fork' || (link === 'gap' && !(await agreement.vouches(primary, at)))) {
      return yield* switchBranch(primary, voters, at);
    }
    // Far behind, not every poll gets to the head; what was read so far may be agreed on all the same.
    if (link === 'gap') tags = { ...tags, agreed: higher(tags.agreed, await agreement.heightOf(voters.fresh, at)) };
    if (link !== 'known') yield* advance(primary, voters.fresh, at);
    // Nodes that have the block where this poll began may be on another branch than the ones read since.
    if (link !== 'known') said = await agreement.tagsOf(voters.all, at);
    for (const { node } of voters.fresh) node.praise();
    // A node behind our cursor has not shown that there is nothing above it.
    const isCaughtUp = primary.head.number === at.number && options.isCurrent(primary.head);
    const agreed = higher(tags.agreed, await agreement.heightOf(voters.fresh, at));
    yield { kind: 'idle', at, tags: tagsNow(agreed), caughtUpSince: isCaughtUp ? begunAt : null };
    return 'heard';
  }

  async function* poll(): AsyncGenerator<ChainStep> {
    const begunAt = await surroundings.now();
    const survey = await surveyNodes(nodes, { chainId, hasTags }, signal);
    options.observe(survey);
    for (const complaint of survey.complaints) options.complain(complaint);
    said = at === null ? unsaid : await agreement.tagsOf(survey.sightings, at);
    const fresh = freshOf(survey.sightings, options.isCurrent);
    for (const sighting of fresh) {
      try {
        if ((yield* ask(sighting, { all: survey.sightings, fresh }, begunAt)) === 'heard') return;
        // It may be right. Left alone, it would be away when the next one comes back to say the same.
        if (!doubted.has(sighting.node)) options.complain(onAnotherBranch().message);
        doubted.add(sighting.node);
      } catch (error) {
        if (signal.aborted || !(error instanceof RpcFault)) throw error;
        sighting.node.rest(error);
        reach = Math.max(1, reach >> 2);
        options.complain(error.message);
        return;
      }
    }
  }

  while (!signal.aborted) {
    let moved = false;
    for await (const step of poll()) {
      yield step;
      if (step.kind === 'blocks') {
        at = blockOf(step.blocks.at(-1)!);
        doubted.clear();
        moved = true;
      }
      if (step.kind !== 'halt' && at !== null) tags = upTo(at, step.tags);
    }
    if (!moved) await news(at?.hash ?? null);
  }
}
