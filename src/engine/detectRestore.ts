import type { Log } from '../core/log.ts';
import type { Database } from '../storage/database.ts';
import { claimDatabaseIdentity, readDatabaseIdentity, skipDerivationIndexes } from '../storage/restoredCounters.ts';

/**
 * More indexes than any backup is behind. Forwarder indexes cost nothing. Wallets that scan an extended public key stop
 * after some unused addresses, so that gap is small enough to set by hand.
 */
const skip = { forwarder: 1_000_000, xpub: 100 };

/**
 * A restored database has lost the payments since its backup, but their addresses were handed out. None of them may be
 * given to another payment, so the indexes jump ahead.
 */
export const detectRestore = async (db: Database, log: Log): Promise<void> => {
  const identity = await readDatabaseIdentity(db);
  await db.transaction(async tx => {
    if (!(await claimDatabaseIdentity(tx, identity))) return;
    const series = await skipDerivationIndexes(tx, skip);
    log.warn({ series, ...skip }, 'the database was restored or moved: derivation indexes jump ahead');
  });
};
