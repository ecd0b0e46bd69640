import type { Log } from '../core/log.ts';
import type { Database } from '../storage/database.ts';
import { claimDatabaseIdentity, readDatabaseIdentity, skipDerivationIndexes } from '../storage/restoredCounters.ts';

/**
 * More than any backup is behind. A forwarder's index costs nothing; wallets that scan an extended public key stop after
 * a number of unused addresses, so that gap is kept small enough to be set by hand.
 */
const skip = { forwarder: 1_000_000, xpub: 100 };

/**
 * A database that was restored has forgotten the payments since its backup, but their addresses were handed out: none of
 * them may be given to another payment.
 */
export const noticeRestore = async (db: Database, log: Log): Promise<void> => {
  const identity = await readDatabaseIdentity(db);
  await db.transaction(async tx => {
    if (!(await claimDatabaseIdentity(tx, identity))) return;
    const series = await skipDerivationIndexes(tx, skip);
    log.warn({ series, ...skip }, 'the database was restored or moved: derivation indexes jump ahead');
  });
};
