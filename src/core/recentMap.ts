/**
 * A map that forgets old entries that are no longer used once they weigh more than it may hold. A use only leaves a mark,
 * because moving an entry on each use cost more than what is kept here saves; a marked entry is passed over once.
 */
export type RecentMap<Value> = {
  get(key: string): Value | undefined;
  /** An entry that alone weighs more than the map may hold is not kept, and what its key had before is gone. */
  set(key: string, value: Value): void;
  delete(key: string): void;
};

export const createRecentMap = <Value>(
  maxWeight: number,
  weigh: (key: string, value: Value) => number = () => 1,
): RecentMap<Value> => {
  const entries = new Map<string, { value: Value; weight: number; isUsed: boolean }>();
  let total = 0;

  const remove = (key: string): void => {
    const entry = entries.get(key);
    if (!entry) return;
    total -= entry.weight;
    entries.delete(key);
  };

  /** Each entry is passed over once at most, so this ends. */
  const makeRoom = (): void => {
    for (const [key, entry] of entries) {
      if (total <= maxWeight) return;
      if (entry.isUsed) {
        entry.isUsed = false;
        entries.delete(key);
        entries.set(key, entry);
      } else remove(key);
    }
  };

  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entry.isUsed = true;
      return entry.value;
    },
    set(key, value) {
      remove(key);
      const weight = weigh(key, value);
      if (weight > maxWeight) return;
      entries.set(key, { value, weight, isUsed: false });
      total += weight;
      makeRoom();
    },
    delete: remove,
  };
};
