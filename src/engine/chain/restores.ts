import { randomUUID } from 'node:crypto';
import { type Epoch, formatEpoch, timeBefore } from '../../core/epoch.ts';
import { invalid } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { openReviews } from '../../storage/chain/restoreReviews.ts';
import {
  claimDatabaseIdentity,
  judgeEpoch,
  type RestoreGate,
  readDatabaseIdentity,
  rescanAfterRestore,
  timeBeforeRun,
  unknownEpochs,
  usedWallets,
} from '../../storage/chain/restores.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { readNow } from '../../storage/databaseClock.ts';
import { putDeploymentValue, readDeploymentValue } from '../../storage/deployment.ts';
import type { Vault } from '../../vault/vault.ts';
import type { AdminContext } from '../access/accounts.ts';
import { operatorActing, recordAction } from '../audit/acting.ts';
import {
  deriveAhead,
  forwarderParts,
  type Progress,
  skipExtendedKeys,
  skippedParts,
  watchEpochs,
  watchParts,
  watchTails,
} from './lostAddresses.ts';
import { putGate, readGate } from './restoreGate.ts';

type Admin = { readonly db: Database; readonly vault: Vault };

/** `restore_found` changes with each restore that a process finds. */
const [sinceName, foundName] = ['restore_since', 'restore_found'];
/**
 * A closed gate is not opened again by a weaker finding. The time of the backup is kept from the first one: later ones
 * know it less well.
 */
const closeGate = async (tx: Queryable, vault: Vault, gate: Exclude<RestoreGate, 'open'>): Promise<void> => {
  const { state: before } = await readGate({ db: tx, vault });
  if (before === 'open') await putDeploymentValue(tx, sinceName, (await timeBeforeRun(tx))?.toISOString() ?? '');
  if (before !== 'production') await putGate({ db: tx, vault }, gate);
};

const sinceOfDetected = async (tx: Queryable): Promise<Date | null> => {
  const kept = await readDeploymentValue(tx, sinceName);
  return kept ? new Date(kept) : null;
};

/**
 * A restored database has lost the payments since its backup, but their addresses were handed out. The database alone
 * shows a restore from a dump or to an earlier moment. The epochs of the data directory show that the database is older
 * than the directory. A copy of both at once shows nothing: the operator has to declare it.
 */
export const detectRestore = async (
  { db, vault }: Admin,
  remembered: readonly Epoch[],
  log: Log,
): Promise<RestoreGate> => {
  const identity = await readDatabaseIdentity(db);
  const known = await readDeploymentValue(db, 'database_identity');
  const isSuspected = (known !== null && known !== identity) || (await unknownEpochs(db, remembered)).length > 0;
  if (isSuspected) await deriveAhead(db);
  await db.transaction(async tx => {
    const isMoved = await claimDatabaseIdentity(tx, identity);
    const lost = await unknownEpochs(tx, remembered);
    if (!isMoved && lost.length === 0) return;
    const wallets = await usedWallets(tx);
    // Each process has a data directory of its own, so several may notice one restore. While the gate is closed, no index
    // of an extended public key is handed out.
    const isFirst = (await readGate({ db: tx, vault })).state === 'open';
    const watched =
      (isFirst ? await skipExtendedKeys(tx, vault, wallets) : 0) +
      (await watchTails(tx, vault, wallets)) +
      (await watchEpochs(tx, vault, wallets, lost));
    await closeGate(tx, vault, lost.length > 0 ? 'production' : 'extended_keys');
    await putDeploymentValue(tx, foundName, randomUUID());
    const epochs = lost.map(formatEpoch);
    log.error({ isMoved, epochs, watched }, 'the database was restored or moved: run florin restored');
  });
  return (await readGate({ db, vault })).state;
};

export type Declared = {
  readonly wasDetected: boolean;
  readonly watched: number;
  readonly since: Date;
  /** How many accounts wait for a review. */
  readonly inReview: number;
};

/** `backupAt`: when the backup was taken, if known. `most`: a limit of the addresses that are watched. */
export type Declaration = {
  readonly backupAt?: Date | null;
  readonly most?: number;
  /** When the gate was moved last, as the data directory says. It opens only later than that. */
  readonly knownGateAt?: string;
  readonly onProgress?: Progress;
};

/** Until a review, a restored copy may contain a revoked key, a removed member, an earlier wallet or endpoint. */
const closeAccounts = async (admin: AdminContext, tx: Queryable, backupAt: Date | null): Promise<number> => {
  const accounts = await openReviews(tx);
  const detail = backupAt === null ? {} : { backupAt: backupAt.toISOString() };
  // Last, because it locks the logs. In order, as for every act in several accounts.
  for (const accountId of accounts) {
    const acting = operatorActing({ accountId, environment: null });
    await recordAction(admin, tx, acting, { action: 'restore.declared', subject: null, detail });
  }
  return accounts.length;
};

/**
 * The operator declares a restore, or confirms a detected one, which has skipped its indexes already. Returns how many
 * addresses are watched in addition, and since when the chains are read again. Production of each account then waits for a review. If it is interrupted, the restore counts as
 * detected and waits for the next call.
 */
export const declareRestored = async (
  admin: AdminContext,
  { backupAt = null, most, knownGateAt = '', onProgress = () => {} }: Declaration = {},
): Promise<Declared> => {
  const { db, vault } = admin;
  await deriveAhead(db);
  const begun = await db.transaction(async tx => {
    // A move that no process has noticed yet is declared with this, and must not be reported afterwards.
    const isMoved = await claimDatabaseIdentity(tx, await readDatabaseIdentity(tx));
    const wasDetected = !isMoved && (await readGate({ db: tx, vault })).state !== 'open';
    let watched = 0;
    if (!wasDetected) {
      const wallets = await usedWallets(tx);
      watched = (await skipExtendedKeys(tx, vault, wallets)) + (await watchTails(tx, vault, wallets));
      await closeGate(tx, vault, 'extended_keys');
    }
    return { wasDetected, watched, inReview: await closeAccounts(admin, tx, backupAt) };
  });
  let { watched } = begun;
  const { wasDetected, inReview } = begun;
  for (;;) {
    const found = await readDeploymentValue(db, foundName);
    const parts = [...(await skippedParts(db, most)), ...(await forwarderParts(db, most))];
    watched += await watchParts(admin, parts, onProgress);
    const since = await openGate(admin, found, { backupAt, knownGateAt });
    if (since !== null) return { wasDetected, watched, since, inReview };
  }
};

/** Opens the gate and reads the chains again. Null if a process has found more meanwhile, which is not watched yet. */
const openGate = (
  { db, vault }: Admin,
  found: string | null,
  { backupAt, knownGateAt }: { readonly backupAt: Date | null; readonly knownGateAt: string },
): Promise<Date | null> =>
  db.transaction(async tx => {
    // Waits for processes that are noticing a restore, too.
    await claimDatabaseIdentity(tx, await readDatabaseIdentity(tx));
    if ((await readDeploymentValue(tx, foundName)) !== found) return null;
    const since = backupAt ?? (await sinceOfDetected(tx)) ?? (await readNow(tx));
    await rescanAfterRestore(tx, since);
    await putGate({ db: tx, vault }, 'open', knownGateAt);
    return since;
  });

/** Watches the addresses of an epoch that a log of the lost time names, and reads the chains again since then. */
export const watchLostEpoch = async (admin: Admin, epoch: Epoch, onProgress: Progress = () => {}): Promise<number> => {
  const { db, vault } = admin;
  const watched = await db.transaction(async tx => {
    const { isOwn, isFuture } = await judgeEpoch(tx, epoch);
    if (isFuture) throw invalid('epoch', 'This epoch is in the future. Copy it from the log.');
    if (isOwn) throw invalid('epoch', 'This epoch is not lost: the database knows it.');
    return watchEpochs(tx, vault, await usedWallets(tx), [epoch]);
  });
  const more = await watchParts(admin, await forwarderParts(db), onProgress);
  // After all are watched: what was read before would not be read again.
  await db.transaction(tx => rescanAfterRestore(tx, timeBefore(epoch)));
  return watched + more;
};
