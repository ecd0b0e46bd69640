/** A branch of a chain: from here on, blocks above a height were read anew. */
export type Branch = {
  readonly number: number;
  /** The branch before; null for the first one. */
  readonly previous: number | null;
  readonly above: number;
  /** Hashes of blocks that were orphaned before the first branch. */
  readonly orphans: readonly string[];
};

type Shown = {
  readonly hash: string;
  readonly number: number;
  /** The branch in which a node showed the block last; 0 before there were branches. */
  readonly branch: number;
};

/** Whether these are all branches after one, up to the newest. 0 stands for none. */
export const isWhole = (branches: readonly Branch[], after: number, newest: number): boolean => {
  const isLinked = branches.every(({ previous }, at) =>
    at === 0 ? (previous ?? 0) <= after : previous === branches[at - 1]!.number,
  );
  return isLinked && (branches.at(-1)?.number ?? after) === newest;
};

/** Whether a later branch began below the block, so that it counts only when a node shows it again. */
export const isLost = ({ hash, number, branch }: Shown, branches: readonly Branch[]): boolean =>
  branches.some(later => later.number > branch && (number > later.above || later.orphans.includes(hash)));
