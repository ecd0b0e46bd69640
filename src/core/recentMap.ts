/**
 * A cache with a maximum weight that evicts old, unused entries. A use only sets a flag, because moving the entry on
 * every use cost more than the cache saves; eviction skips a flagged entry once and clears the flag.
 */
export type RecentMap<Value> = {
  get(key: string): Value | undefined;
  /** An entry heavier than the maximum is not stored, and the key's previous entry is removed. */
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

  /** Each entry is skipped at most once, so the loop ends. */
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
