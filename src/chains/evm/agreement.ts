import type { Block } from '../../core/chain.ts';
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
  const vouches: Agreement['vouches'] = async ({ node, head }, block) => {
    if (head.number === block.number) return head.hash === block.hash;
    if (head.number < block.number) return false;
    const [there] = await fetchHeaders(node, { from: block.number, to: block.number }, signal);
    return there!.hash === block.hash;
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
