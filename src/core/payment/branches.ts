/** A branch of a chain: from here on, blocks above a height were read anew. */
export type Branch = {
  readonly number: number;
  /** The branch before; null for the first one. */
  readonly previous: number | null;
  readonly above: number;
  /** Hashes of blocks that were orphaned before the first branch. */
  readonly orphans: readonly string[];
};

/** What the branches of a chain say, from the first one on. */
export type BranchLine = {
  /** The newest branch; 0 if there is none. */
  readonly newest: number;
  /**
   * Branches that began below all later ones, in order. The first of them after a branch is thus the lowest after it. Branches
   * only grow in number, and each credit of a payment looks here: a search must not read them all.
   */
  readonly lows: readonly Pick<Branch, 'number' | 'above'>[];
  readonly orphans: ReadonlySet<string>;
};

/** The line of a chain up to a branch about which nothing more is asked. 0 stands for none. */
export const lineAfter = (branch: number): BranchLine => ({ newest: branch, lows: [], orphans: new Set() });

/** The line with the branches that follow; null if one of them is missing. */
export const continueLine = (line: BranchLine, branches: readonly Branch[]): BranchLine | null => {
  if (branches.length === 0) return line;
  const lows = line.lows.slice();
  let newest = line.newest;
  for (const { number, previous, above } of branches) {
    if ((previous ?? 0) !== newest || number <= newest) return null;
    while (lows.length > 0 && lows.at(-1)!.above >= above) lows.pop();
    lows.push({ number, above });
    newest = number;
  }
  const orphans = branches.flatMap(branch => branch.orphans);
  return { newest, lows, orphans: orphans.length > 0 ? new Set([...line.orphans, ...orphans]) : line.orphans };
};

/** The lowest height above which blocks were read anew after a branch; null if they never were. */
const lowestAfter = ({ lows }: BranchLine, branch: number): number | null => {
  let [from, to] = [0, lows.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (lows[middle]!.number > branch) to = middle;
    else from = middle + 1;
  }
  return lows[from]?.above ?? null;
};

type Shown = {
  readonly hash: string;
  readonly number: number;
  /** The branch in which a node showed the block last; null before there were branches. */
  readonly branch: number | null;
};

/** Whether a later branch began below the block, so that it counts only when a node shows it again. */
export const isLost = ({ hash, number, branch }: Shown, line: BranchLine): boolean => {
  const lowest = lowestAfter(line, branch ?? 0);
  return (lowest !== null && number > lowest) || (branch === null && line.orphans.has(hash));
};
