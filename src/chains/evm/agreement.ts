import type { Block, Tags } from '../../core/chain.ts';
import type { Surroundings } from '../driver.ts';
import { fetchHeaders } from './fetchBlocks.ts';
import type { Sighting } from './survey.ts';

export type Voters = { readonly all: readonly Sighting[]; readonly fresh: readonly Sighting[] };

/** `stands`, or `gone` where as many nodes as are asked for say so; `doubtful` where only some do. */
export type Verdict = 'stands' | 'gone' | 'doubtful';

/** What several nodes say of a block that was processed. */
export type Agreement = {
  /** Whether this node's chain has our block at that height. */
  vouches(sighting: Sighting, block: Block): Promise<boolean>;
  /** The highest processed block that enough nodes have, or null. */
  heightOf(sightings: readonly Sighting[], block: Block): Promise<number | null>;
  /**
   * As high as enough of the nodes say: one alone may call its newest block final. It must be our block that they mean, and
   * not another one at that height: only nodes on the branch of the block count.
   */
  tagsOf(sightings: readonly Sighting[], block: Block): Promise<Pick<Tags, 'safe' | 'finalized'>>;
  /**
   * Whether our block stands against a node that has another one: it does where most of the nodes have it, or half of
   * those that do not lag. So neither one node far ahead on a branch of its own decides, nor one that is stuck on a
   * block that all others have left.
   */
  judge(sighting: Sighting, voters: Voters, block: Block): Promise<Verdict>;
};

export const createAgreement = (
  { stored }: Pick<Surroundings, 'stored'>,
  quorum: number,
  signal: AbortSignal,
): Agreement => {
  const has = async ({ node, head }: Sighting, block: Block): Promise<boolean> => {
    if (head.number < block.number) return false;
    if (head.number === block.number) return head.hash === block.hash;
    if (head.number === block.number + 1) return head.parentHash === block.hash;
    const [there] = await fetchHeaders(node, { from: block.number, to: block.number }, signal);
    return there!.hash === block.hash;
  };

  /** Nobody is asked the same twice in one poll, which is as long as a sighting is kept. */
  const answers = new WeakMap<Sighting, Map<string, Promise<boolean>>>();
  const vouches: Agreement['vouches'] = (sighting, block) => {
    const known = answers.get(sighting) ?? new Map<string, Promise<boolean>>();
    const answer = known.get(block.hash) ?? has(sighting, block);
    answers.set(sighting, known.set(block.hash, answer));
    return answer;
  };

  /** A node behind the block is on its branch where its own head is a block of ours. */
  const isOnOurBranch = async (sighting: Sighting, block: Block): Promise<boolean> => {
    const { head } = sighting;
    if (head.number >= block.number) return vouches(sighting, block);
    return (await stored(head.number))?.hash === head.hash;
  };

  /**
   * How high a tag of the node goes on our branch. Its head may be an old one, and the tag one of now: the two are answers
   * to two questions, and the chain may have left our branch in between. Above what we have, where its block cannot be
   * held against ours, it counts only by a head that has it, too.
   */
  const meant = async (sighting: Sighting, tagged: Block | null, block: Block): Promise<number | null> => {
    if (tagged === null || !(await isOnOurBranch(sighting, block))) return null;
    const { head } = sighting;
    if (tagged.number > block.number) {
      const isBehind = head.number < tagged.number || (head.number === tagged.number && head.hash !== tagged.hash);
      return isBehind ? null : tagged.number;
    }
    const ours = await stored(tagged.number);
    // Finality may lag by more blocks than are kept, but so far below no branch is followed.
    if (ours !== null && ours.hash !== tagged.hash) return null;
    return Math.min(tagged.number, head.number);
  };

  /** How many of the nodes have our block; one that cannot say has not. */
  const countVouching = async (sightings: readonly Sighting[], block: Block): Promise<number> => {
    const votes = await Promise.all(sightings.map(sighting => vouches(sighting, block).catch(() => false)));
    return votes.filter(Boolean).length;
  };

  /** True for us, false for another branch. A node below the block speaks by its head, where that tells the two apart. */
  const voteOf = async (voter: Sighting, other: Sighting, block: Block): Promise<boolean | null> => {
    if (voter.head.number >= block.number) return vouches(voter, block);
    const ours = await stored(voter.head.number);
    if (ours === null) return null;
    if (ours.hash !== voter.head.hash) return false;
    return (await vouches(other, ours)) ? null : true;
  };

  return {
    vouches,
    async heightOf(sightings, block) {
      if (quorum <= 1) return block.number;
      const candidates = [block];
      // A node that is a little behind vouches for its own head.
      for (const { head } of sightings) {
        if (head.number >= block.number) continue;
        const ours = await stored(head.number);
        if (ours?.hash === head.hash) candidates.push(ours);
      }
      for (const candidate of candidates.sort((a, b) => b.number - a.number)) {
        if ((await countVouching(sightings, candidate)) >= quorum) return candidate.number;
      }
      return null;
    },
    async tagsOf(sightings, block) {
      const heights = async (tag: 'safe' | 'finalized'): Promise<number | null> => {
        const said = await Promise.all(
          sightings.map(sighting => meant(sighting, sighting[tag], block).catch(() => null)),
        );
        return said.filter(height => height !== null).sort((a, b) => b - a)[Math.max(1, quorum) - 1] ?? null;
      };
      return { safe: await heights('safe'), finalized: await heights('finalized') };
    },
    async judge(sighting, { all, fresh }, block) {
      const votes = await Promise.all(
        all.map(async voter => ({ voter, vote: await voteOf(voter, sighting, block).catch(() => null) })),
      );
      const count = (wanted: boolean, among: readonly Sighting[]): number =>
        votes.filter(({ voter, vote }) => vote === wanted && among.includes(voter)).length;
      if (count(true, all) > count(false, all)) return 'stands';
      if (count(true, fresh) > 0 && count(true, fresh) >= count(false, fresh)) return 'stands';
      return count(false, all) >= quorum ? 'gone' : 'doubtful';
    },
  };
};
