import { FlorinError } from '../core/errors.ts';
import { allChains } from '../storage/chain/chains.ts';
import type { Database } from '../storage/database.ts';
import { readReconciliation, requestRounds } from '../storage/settlement/reconciliation.ts';
import { waitForReader } from './waitForReader.ts';

export type ComparedChain = { readonly caip2: string; readonly compared: number };

/** Waits until the process that reads the chain has compared every forwarder address. */
const compareOne = async (db: Database, caip2: string, tell: (progress: string) => void): Promise<ComparedChain> => {
  const look = async () => {
    const now = (await readReconciliation(db, caip2))!;
    return now.isRequested ? { progress: `${caip2}: ${now.compared} addresses compared` } : { done: now };
  };
  const { finishedCompared } = await waitForReader(db, caip2, look, tell);
  return { caip2, compared: finishedCompared ?? 0 };
};

/** Has every forwarder address compared with each chain that a process reads now. Throws if one of them fails. */
export const compareWithChains = async (db: Database, tell: (progress: string) => void): Promise<ComparedChain[]> => {
  const chains: ComparedChain[] = [];
  for (const { caip2 } of await requestRounds(db)) chains.push(await compareOne(db, caip2, tell));
  return chains;
};

export type Comparison = {
  readonly chains: readonly ComparedChain[];
  /** Chains without nodes, without a process that reads them, or halted. */
  readonly skipped: readonly string[];
};

/** The same, but a chain that cannot be compared now is only named. */
export const compareReadChains = async (db: Database): Promise<Comparison> => {
  const chains: ComparedChain[] = [];
  for (const { caip2 } of await requestRounds(db)) {
    try {
      chains.push(await compareOne(db, caip2, () => {}));
    } catch (error) {
      if (!(error instanceof FlorinError)) throw error;
    }
  }
  const isCompared = new Set(chains.map(({ caip2 }) => caip2));
  const skipped = (await allChains(db)).map(({ caip2 }) => caip2).filter(caip2 => !isCompared.has(caip2));
  return { chains, skipped };
};
