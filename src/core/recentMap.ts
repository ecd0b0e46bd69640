/** A map that forgets what was not used for longest once its entries weigh more than it may hold. */
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
  /** Oldest use first: a Map keeps the order of insertion, and each use inserts again. */
  const entries = new Map<string, { value: Value; weight: number }>();
  let total = 0;

  const remove = (key: string): void => {
    const entry = entries.get(key);
    if (!entry) return;
    total -= entry.weight;
    entries.delete(key);
  };

  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value) {
      remove(key);
      const weight = weigh(key, value);
      if (weight > maxWeight) return;
      entries.set(key, { value, weight });
      total += weight;
      while (total > maxWeight) remove(entries.keys().next().value!);
    },
    delete: remove,
  };
};
