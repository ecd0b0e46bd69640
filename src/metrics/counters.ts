import type { Labels, Sample } from './exposition.ts';

/** A number that only grows. */
export const createCounter = () => {
  let value = 0;
  return {
    add(): void {
      value += 1;
    },
    samples: (): Sample[] => [{ labels: {}, value }],
  };
};

/** Counters apart by one or more labels. A series exists from its first count on, or from `start`. */
export const createCounters = <L extends Labels>() => {
  const series = new Map<string, { readonly labels: L; value: number }>();
  const start = (key: string, labels: L): { value: number } => {
    const known = series.get(key);
    if (known) return known;
    const fresh = { labels, value: 0 };
    series.set(key, fresh);
    return fresh;
  };
  return {
    start,
    add(key: string, labels: L): void {
      start(key, labels).value += 1;
    },
    samples: (): Sample[] => [...series.values()],
  };
};

export type Histogram = { observe(value: number): void; samples(): Sample[] };

/**
 * Fixed buckets: an observation is a few comparisons and two additions. `bounds` are the upper ends, ascending; what is
 * above the last one counts in +Inf.
 */
export const createHistogram = (bounds: readonly number[], labels: Labels = {}): Histogram => {
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  return {
    observe(value) {
      let place = 0;
      while (place < bounds.length && value > bounds[place]!) place += 1;
      counts[place]! += 1;
      sum += value;
    },
    samples() {
      let total = 0;
      const buckets = [...counts].map((count, place): Sample => {
        total += count;
        const le = place < bounds.length ? String(bounds[place]) : '+Inf';
        return { suffix: '_bucket', labels: { ...labels, le }, value: total };
      });
      return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }];
    },
  };
};
