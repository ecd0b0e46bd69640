import { xpubIdentity } from '../../chains/evm/xpubIdentity.ts';
import { nextIndex } from '../../storage/chain/restores.ts';
import type { Queryable } from '../../storage/database.ts';
import { lastIndexes } from '../../storage/integrity.ts';

/** Extended public keys whose counter would give out an address again. Its payment would be refused, not paid elsewhere. */
export const indexFaults = async (db: Queryable): Promise<string[]> => {
  const next = new Map<string, bigint>();
  const faults: string[] = [];
  for (const { xpub, last } of await lastIndexes(db)) {
    const series = `xpub/${xpubIdentity(xpub)}`;
    if (!next.has(series)) next.set(series, BigInt(await nextIndex(db, series)));
    if (next.get(series)! <= BigInt(last)) {
      faults.push(`the counter of ${xpub} is at ${next.get(series)}, and index ${last} was given out`);
    }
  }
  return faults;
};
