import { randomInt } from 'node:crypto';
import { type Epoch, firstIndexOf, formatEpoch, indexesPerEpoch, marksPerNumber } from '../../core/epoch.ts';
import { FlorinError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { takeEpoch, takeIndex } from '../../storage/chain/restores.ts';
import type { Database } from '../../storage/database.ts';
import type { Vault } from '../../vault/vault.ts';
import { parseGate, readGate } from '../chain/restoreGate.ts';

/**
 * Hands out derivation indexes, each once, also by restored copies of the database and by two copies that run at once.
 *
 * Forwarders: the process takes an epoch and counts in memory, so creating a payment does not wait on a counter row. A
 * counter alone would repeat after a restore. Gaps cost a forwarder nothing.
 *
 * Extended public keys: wallets scan them with a gap limit, so indexes are dense and reserved one at a time. A restore
 * closes this until the operator has spoken, because nothing else can tell which indexes are lost.
 */
export type DerivationIndexes = { next(series: string, kind: 'forwarder' | 'xpub'): Promise<bigint> };

/** Takes a new epoch, which is kept outside of the database before it is used. */
export type TakeEpoch = () => Promise<Epoch>;

/** Looks for a restore while the process runs. Resolves when it is done, also if the database does not answer. */
export type LookForRestore = () => Promise<void>;

type Parts = { readonly db: Database; readonly vault: Vault };

/** A process with more series takes another epoch. */
const maxSeries = 100_000;

export const waitsForOperator = (what: string): FlorinError =>
  new FlorinError(
    'service_unavailable',
    `The database was restored, so ${what} cannot be created yet: addresses could be given out twice. The operator continues with: florin restored`,
  );

/** Takes the first epoch at once: it also records this start, inside and outside of the database. */
export const openDerivationIndexes = async (
  { db, vault }: Parts,
  take: TakeEpoch,
  look: LookForRestore,
): Promise<DerivationIndexes> => {
  const begin = async () => ({ first: firstIndexOf(await take()), counts: new Map<string, number>() });
  let current = await begin();
  let taking: Promise<void> | null = null;

  const nextOfForwarder = async (series: string): Promise<bigint> => {
    for (;;) {
      const { first, counts } = current;
      const count = counts.get(series) ?? 0;
      if (count < indexesPerEpoch && (count > 0 || counts.size < maxSeries)) {
        counts.set(series, count + 1);
        return first + BigInt(count);
      }
      taking ??= begin()
        .then(begun => {
          current = begun;
        })
        .finally(() => {
          taking = null;
        });
      await taking;
    }
  };

  let isLooking = false;
  /** Beside the request: it takes seconds to write a restore down. */
  const noticeMove = (): void => {
    if (isLooking) return;
    isLooking = true;
    look().finally(() => {
      isLooking = false;
    });
  };

  return {
    async next(series, kind) {
      if (kind === 'forwarder') return nextOfForwarder(series);
      const taken = await takeIndex(db, series);
      // An index that was taken in vain is skipped.
      if (taken !== null && parseGate(vault, taken.gate) !== null) return taken.index;
      noticeMove();
      throw waitsForOperator('payments on extended public keys');
    },
  };
};

/** Looks only while nothing waits for the operator: a closed gate has been found already. */
export const createLookForRestore =
  (parts: Parts, detect: () => Promise<unknown>, log: Log): LookForRestore =>
  async () => {
    try {
      if ((await readGate(parts)).state === 'open') await detect();
    } catch (error) {
      log.error({ err: error }, 'a restore of the database could not be looked into');
    }
  };

/** `remembered` are the epochs of the data directory; `remember` adds one and resolves once it is on disk. */
export type EpochMemory = { readonly remembered: readonly Epoch[]; remember(epoch: Epoch): Promise<void> };

export const createTakeEpoch = (
  db: Database,
  memory: EpochMemory,
  { holder, log }: { readonly holder: string; readonly log: Log },
): TakeEpoch => {
  let above = memory.remembered.reduce((most, { number }) => Math.max(most, number), 0);
  return async () => {
    const epoch = await db.transaction(tx => takeEpoch(tx, { above, mark: randomInt(marksPerNumber), holder }));
    // After the database: an epoch that only the data directory knows would look like a restore.
    await memory.remember(epoch);
    above = Math.max(above, epoch.number);
    // With this line from an old log, the addresses of a lost epoch can be found again.
    log.info({ epoch: formatEpoch(epoch) }, 'derivation epoch taken');
    return epoch;
  };
};
