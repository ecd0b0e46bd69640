/**
 * A line in front of a few places. Those of a higher rank go first; when the line is full, those of a lower rank make
 * room.
 */
export type Line<Rank extends string> = {
  /** Ends when there is a place; throws what `full` makes when there is no room to wait. */
  enter(rank: Rank): Promise<void>;
  leave(): void;
};

type Waiting = { readonly start: () => void; readonly refuse: (error: Error) => void };
type Limits<Rank extends string> = {
  /** The highest first. */
  readonly ranks: readonly Rank[];
  readonly places: number;
  readonly maxWaiting: number;
  readonly full: () => Error;
};

export const createLine = <Rank extends string>({ ranks, places, maxWaiting, full }: Limits<Rank>): Line<Rank> => {
  const waiting = new Map<Rank, Waiting[]>(ranks.map(rank => [rank, []]));
  let taken = 0;

  /** The last one in line of the lowest rank below this one must go. */
  const makeRoom = (rank: Rank): void => {
    if (ranks.reduce((sum, each) => sum + waiting.get(each)!.length, 0) < maxWaiting) return;
    const below = ranks.slice(ranks.indexOf(rank) + 1).toReversed();
    const last = below.map(each => waiting.get(each)!).find(line => line.length > 0);
    if (!last) throw full();
    last.pop()!.refuse(full());
  };

  return {
    async enter(rank) {
      if (taken < places) {
        taken += 1;
        return;
      }
      makeRoom(rank);
      await new Promise<void>((start, refuse) => waiting.get(rank)!.push({ start, refuse }));
    },
    leave() {
      const line = ranks.map(rank => waiting.get(rank)!).find(each => each.length > 0);
      // The place goes straight to the next in line, so that a later call cannot take it first.
      if (line) line.shift()!.start();
      else taken -= 1;
    },
  };
};
