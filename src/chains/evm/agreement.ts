import type { Block, Tags } from '../../core/chain.ts';
import type { DriverHost } from '../driver.ts';
import { fetchHeaders } from './fetchBlocks.ts';
import type { NodeReport } from './survey.ts';

export type Voters = { readonly all: readonly NodeReport[]; readonly fresh: readonly NodeReport[] };

/** `gone` if a quorum of nodes has the same other block instead, `doubtful` if fewer do. */
export type Verdict = 'stands' | 'gone' | 'doubtful';

/** What the nodes report about blocks that Florin has processed. */
export type Agreement = {
  /** Whether the node's chain has our block. */
  hasBlock(report: NodeReport, block: Block): Promise<boolean>;
  /** The highest processed block that a quorum of nodes has, or null. */
  agreedHeight(reports: readonly NodeReport[], block: Block): Promise<number | null>;
  /**
   * The tags that a quorum of nodes reaches: a single node may call its newest block final. Only nodes on the branch of
   * our block count, so the tag cannot mean another block at that height.
   */
  agreedTags(reports: readonly NodeReport[], block: Block): Promise<Pick<Tags, 'safe' | 'finalized'>>;
  /**
   * Whether our block stands against a node that has another one. It does if more nodes have it than that other one, or
   * as many of the fresh ones. So neither one node far ahead on its own branch decides, nor one that is stuck on a block
   * that all others have left. Nodes on a third branch have no vote: two nodes that lie in different ways do not agree.
   */
  judge(report: NodeReport, voters: Voters, block: Block): Promise<Verdict>;
};

export const createAgreement = (
  { storedBlock }: Pick<DriverHost, 'storedBlock'>,
  quorum: number,
  signal: AbortSignal,
): Agreement => {
  const fetchHash = async ({ node, head }: NodeReport, number: number): Promise<string | null> => {
    if (head.number < number) return null;
    if (head.number === number) return head.hash;
    if (head.number === number + 1) return head.parentHash;
    const [found] = await fetchHeaders(node, { from: number, to: number }, signal);
    return found!.hash;
  };

  /** Each node is asked once per poll: a report lives as long as its poll. */
  const hashes = new WeakMap<NodeReport, Map<number, Promise<string | null>>>();
  /** The block that the node has at a height; null above its head. */
  const hashAt = (report: NodeReport, number: number): Promise<string | null> => {
    const cached = hashes.get(report) ?? new Map<number, Promise<string | null>>();
    const hash = cached.get(number) ?? fetchHash(report, number);
    hashes.set(report, cached.set(number, hash));
    return hash;
  };
  const hasBlock: Agreement['hasBlock'] = async (report, block) => (await hashAt(report, block.number)) === block.hash;

  /** A node behind the block is on our branch if its head is one of our blocks. */
  const isOnOurBranch = async (report: NodeReport, block: Block): Promise<boolean> => {
    const { head } = report;
    if (head.number >= block.number) return hasBlock(report, block);
    return (await storedBlock(head.number))?.hash === head.hash;
  };

  /**
   * The height of a node's tag on our branch. Head and tag come from separate requests, and the node may have left our
   * branch in between. A tag above our block cannot be compared with a stored block, so it counts only if the node's
   * head is at or above it.
   */
  const tagHeight = async (report: NodeReport, tagged: Block | null, block: Block): Promise<number | null> => {
    if (tagged === null || !(await isOnOurBranch(report, block))) return null;
    const { head } = report;
    if (tagged.number > block.number) {
      const isBehind = head.number < tagged.number || (head.number === tagged.number && head.hash !== tagged.hash);
      return isBehind ? null : tagged.number;
    }
    const ours = await storedBlock(tagged.number);
    // Finality may lag behind the oldest kept block. No branch is followed that far down.
    if (ours !== null && ours.hash !== tagged.hash) return null;
    return Math.min(tagged.number, head.number);
  };

  /** How many nodes have our block. A node that fails to answer does not count. */
  const countWithBlock = async (reports: readonly NodeReport[], block: Block): Promise<number> => {
    const votes = await Promise.all(reports.map(report => hasBlock(report, block).catch(() => false)));
    return votes.filter(Boolean).length;
  };

  /**
   * Whether a node is on our branch or on the reporting node's. A node below the block votes by its head, if that tells the
   * branches apart. Null if it is on neither, or cannot tell.
   */
  const voteOf = async (voter: NodeReport, report: NodeReport, block: Block): Promise<'ours' | 'theirs' | null> => {
    const number = Math.min(block.number, voter.head.number);
    const ours = number === block.number ? block : await storedBlock(number);
    if (ours === null) return null;
    const [hash, theirs] = [await hashAt(voter, number), await hashAt(report, number)];
    if (hash === ours.hash) return number < block.number && theirs === hash ? null : 'ours';
    if (theirs !== null) return hash === theirs ? 'theirs' : null;
    return (await hasBlock(voter, report.head)) ? 'theirs' : null;
  };

  return {
    hasBlock: hasBlock,
    async agreedHeight(reports, block) {
      if (quorum <= 1) return block.number;
      const candidates = [block];
      // A node slightly behind supports its own head.
      for (const { head } of reports) {
        if (head.number >= block.number) continue;
        const ours = await storedBlock(head.number);
        if (ours?.hash === head.hash) candidates.push(ours);
      }
      for (const candidate of candidates.sort((a, b) => b.number - a.number)) {
        if ((await countWithBlock(reports, candidate)) >= quorum) return candidate.number;
      }
      return null;
    },
    async agreedTags(reports, block) {
      const heights = async (tag: 'safe' | 'finalized'): Promise<number | null> => {
        const heightsByNode = await Promise.all(
          reports.map(report => tagHeight(report, report[tag], block).catch(() => null)),
        );
        return heightsByNode.filter(height => height !== null).sort((a, b) => b - a)[Math.max(1, quorum) - 1] ?? null;
      };
      return { safe: await heights('safe'), finalized: await heights('finalized') };
    },
    async judge(report, { all, fresh }, block) {
      const votes = await Promise.all(
        all.map(async voter => ({ voter, vote: await voteOf(voter, report, block).catch(() => null) })),
      );
      const count = (wanted: 'ours' | 'theirs', among: readonly NodeReport[]): number =>
        votes.filter(({ voter, vote }) => vote === wanted && among.includes(voter)).length;
      if (count('ours', all) > count('theirs', all)) return 'stands';
      if (count('ours', fresh) > 0 && count('ours', fresh) >= count('theirs', fresh)) return 'stands';
      return count('theirs', all) >= quorum ? 'gone' : 'doubtful';
    },
  };
};
