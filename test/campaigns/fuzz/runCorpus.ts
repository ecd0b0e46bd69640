import type { Attack, Target } from './attack.ts';
import { attackAt, type CorpusOptions } from './corpus.ts';
import { createExchange } from './exchange.ts';
import { codeOf, faultOf } from './judge.ts';

export type Failure = { readonly index: number; readonly attack: Attack; readonly fault: string };

export type Tally = {
  passed: number;
  failed: number;
  /** Connections that were cut where that is allowed. */
  cut: number;
  readonly durationsMs: number[];
  readonly categories: Map<string, { count: number; failed: number; slowestMs: number }>;
  readonly statuses: Map<string, number>;
  readonly codes: Map<string, number>;
  /** The first ones, enough to see what is wrong. */
  readonly failures: Failure[];
};

export const createTally = (): Tally => ({
  passed: 0,
  failed: 0,
  cut: 0,
  durationsMs: [],
  categories: new Map(),
  statuses: new Map(),
  codes: new Map(),
  failures: [],
});

const keptFailures = 50;
/** Above the server's own limit of 15 s for a request, which ends the stalled ones. */
const longestMs = 25_000;

const count = (map: Map<string, number>, name: string): void => void map.set(name, (map.get(name) ?? 0) + 1);

/** Sends the requests from `first` up to `last`, this many at a time, each sender on a connection of its own. */
export const runCorpus = async (
  options: CorpusOptions & { readonly first: number; readonly last: number; readonly concurrency: number },
  target: Target,
  tally: Tally,
): Promise<void> => {
  let next = options.first;
  const work = async (): Promise<void> => {
    const exchange = createExchange(target);
    while (next < options.last) {
      const index = next++;
      const attack = attackAt(options, index, target);
      const startedMs = performance.now();
      const outcome = await exchange.send(attack, longestMs);
      const tookMs = performance.now() - startedMs;
      const fault = faultOf(attack, outcome, target);
      const category = tally.categories.get(attack.category) ?? { count: 0, failed: 0, slowestMs: 0 };
      tally.categories.set(attack.category, category);
      category.count++;
      category.slowestMs = Math.max(category.slowestMs, tookMs);
      // How long the stalled ones take is a setting of the server.
      if (attack.category !== 'stalled') tally.durationsMs.push(tookMs);
      count(tally.statuses, outcome.kind === 'answer' ? String(outcome.answer.status) : outcome.kind);
      count(tally.codes, codeOf(outcome));
      if (outcome.kind === 'cut' && fault === null) tally.cut++;
      if (fault === null) {
        tally.passed++;
        continue;
      }
      tally.failed++;
      category.failed++;
      if (tally.failures.length < keptFailures) tally.failures.push({ index, attack, fault });
    }
    exchange.close();
  };
  await Promise.all(Array.from({ length: options.concurrency }, work));
};

/** The request of a failure as text, with keys left out. */
export const showFailure = ({ index, attack, fault }: Failure, target: Target): string => {
  let wire = attack.wire.toString('latin1', 0, 600);
  for (const key of [target.key, target.productionKey, target.readOnlyKey]) wire = wire.replaceAll(key, '<key>');
  return `#${index} ${attack.category}: ${fault}\n  ${attack.what}\n  ${JSON.stringify(wire)}`;
};
