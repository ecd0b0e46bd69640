import { type Environment, environments } from '../../core/environment.ts';
import type { Context } from '../../engine/context.ts';
import { readDueDeliveries } from '../../storage/figures.ts';
import { createCachedReading } from '../edge/cachedReading.ts';

/** `unknown` if it cannot be read. Only parts without which this process cannot serve are ever `unavailable`. */
export type PartStatus = 'ok' | 'degraded' | 'unavailable' | 'unknown';

export type ReadinessParts = {
  readonly queue: { readonly status: PartStatus };
  /** The chains behind the networks of the environment that somebody watches. */
  readonly chains: { readonly status: PartStatus; readonly networks: Readonly<Record<string, string>> };
  readonly restore: { readonly status: PartStatus };
};

export const unknownParts: ReadinessParts = {
  queue: { status: 'unknown' },
  chains: { status: 'unknown', networks: {} },
  restore: { status: 'unknown' },
};

const freshMs = 2_000;
/** Shorter than what the database has: it must not make a probe wait for longer. */
const longestAnswerMs = 1_000;
/** First attempts leave within a second. */
const lateSeconds = 60;

const okIf = (isOk: boolean): { readonly status: PartStatus } => ({ status: isOk ? 'ok' : 'degraded' });

const networksOf = async (context: Context, environment: Environment): Promise<ReadinessParts['chains']> => {
  const measured = (await context.networks.list(environment)).filter(({ checkedAt }) => checkedAt !== null);
  const networks = Object.fromEntries(measured.map(({ network, status }) => [network.slug, status]));
  return { ...okIf(measured.every(({ status }) => status === 'operational')), networks };
};

/** What works less well than it should, although this process can serve. Anybody may ask, so there are no numbers. */
export const createReadinessParts = (
  context: Context,
  nowMs: () => number,
): ((environment: Environment) => Promise<ReadinessParts>) => {
  const ask = async (): Promise<Record<Environment, ReadinessParts>> => {
    const [due, { gate, inReview }, ...chains] = await Promise.all([
      readDueDeliveries(context.db),
      context.restoreState(),
      ...environments.map(environment => networksOf(context, environment)),
    ]);
    const queue = okIf(due.every(({ kind, oldestSeconds }) => kind === 'retry' || oldestSeconds < lateSeconds));
    const restore = okIf(gate === 'open' && inReview.size === 0);
    const partsOf = (environment: Environment) => ({
      queue,
      chains: chains[environments.indexOf(environment)]!,
      restore,
    });
    return { production: partsOf('production'), sandbox: partsOf('sandbox') };
  };
  const read = createCachedReading(ask, { nowMs, freshMs, answerTimeoutMs: longestAnswerMs });
  return async environment => (await read())?.[environment] ?? unknownParts;
};
