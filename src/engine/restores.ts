import { setImmediate as letOthersRun } from 'node:timers/promises';
import { deriveXpubAddress } from '../chains/evm/xpub.ts';
import { xpubIdentity } from '../chains/evm/xpubIdentity.ts';
import { type Epoch, firstIndexOf, formatEpoch, indexesPerEpoch, timeBefore } from '../core/epoch.ts';
import { invalid } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Database, Queryable } from '../storage/database.ts';
import { putDeploymentValue, readDeploymentValue } from '../storage/deployment.ts';
import { readNow } from '../storage/payments.ts';
import {
  claimDatabaseIdentity,
  epochTails,
  insertLostAddresses,
  insertLostEpochs,
  judgeEpoch,
  type LostAddress,
  nextIndex,
  type RestoreGate,
  readDatabaseIdentity,
  readRestoreGate,
  rescanAfterRestore,
  skipIndexes,
  timeBeforeRun,
  type UsedWallet,
  unknownEpochs,
  usedWallets,
} from '../storage/restores.ts';
import type { Vault } from '../vault/vault.ts';
import { deriveAddress } from './paymentAddress.ts';

type Admin = { readonly db: Database; readonly vault: Vault };

/**
 * Indexes of an extended public key that are skipped and watched after a restore: more than were handed out since the
 * backup. Wallets need a gap limit above it.
 */
export const skippedIndexes = 1_000;
/** Derivations between which requests are served: a restore may be found while the process runs. */
const derivedAtOnce = 50;
/** Addresses per account and treasury that are watched for a lost epoch, from its first one on. */
export const watchedOfEpoch = 1_000;

/** The newest epochs are those of processes that ran when the backup was taken. */
const tailEpochs = 5;
/** Addresses watched beyond the last known one of each epoch, account and treasury: fewer if there are many of these. */
const [mostOfTails, fewestOfTail] = [200_000, 20];

const range = (first: bigint, count: number): bigint[] => Array.from({ length: count }, (_, at) => first + BigInt(at));

const lostOf = (vault: Vault, wallet: UsedWallet, indexes: readonly bigint[]): LostAddress[] => {
  const { accountId, environment, kind: walletKind, destination: treasury } = wallet;
  const scope = { accountId, environment };
  return indexes.map(index => ({
    accountId,
    environment,
    walletKind,
    treasury,
    index,
    address: deriveAddress(vault, { scope, walletKind, treasury, index }),
  }));
};

const seriesOf = (xpub: string): string => `xpub/${xpubIdentity(xpub)}`;

/**
 * Derives the addresses that a restore skips. Each takes a millisecond, which is too long for a transaction that other
 * processes wait for. The derivation remembers them.
 */
const deriveAhead = async (db: Database): Promise<void> => {
  for (const { destination } of (await usedWallets(db)).filter(({ kind }) => kind === 'xpub')) {
    const first = await nextIndex(db, seriesOf(destination));
    for (let at = 0; at < skippedIndexes; at++) {
      deriveXpubAddress(destination, first + at);
      if (at % derivedAtOnce === 0) await letOthersRun();
    }
  }
};

/** Skips the indexes that may have been handed out, and watches their addresses. */
const skipExtendedKeys = async (tx: Queryable, vault: Vault, wallets: readonly UsedWallet[]): Promise<number> => {
  const keys = Map.groupBy(
    wallets.filter(({ kind }) => kind === 'xpub'),
    ({ destination }) => seriesOf(destination),
  );
  let watched = 0;
  for (const [series, [wallet]] of keys) {
    const first = await skipIndexes(tx, series, skippedIndexes);
    for (let at = 0; at < skippedIndexes; at += derivedAtOnce) {
      const indexes = range(first + BigInt(at), derivedAtOnce);
      watched += await insertLostAddresses(tx, lostOf(vault, wallet!, indexes));
    }
  }
  return watched;
};

const watchEpochs = async (
  tx: Queryable,
  vault: Vault,
  wallets: readonly UsedWallet[],
  epochs: readonly Epoch[],
): Promise<number> => {
  let watched = 0;
  for (const epoch of epochs) {
    const indexes = range(firstIndexOf(epoch), watchedOfEpoch);
    for (const wallet of wallets.filter(({ kind }) => kind === 'forwarder')) {
      watched += await insertLostAddresses(tx, lostOf(vault, wallet, indexes));
    }
  }
  if (epochs.length > 0) await insertLostEpochs(tx, epochs);
  return watched;
};

/**
 * Processes that ran when a backup was taken went on in epochs that the backup contains. Watches what they may have handed
 * out after it. Some of these addresses may be handed out later: they count as lost only while no payment has them.
 */
const watchTails = async (tx: Queryable, vault: Vault, wallets: readonly UsedWallet[]): Promise<number> => {
  const forwarders = wallets.filter(({ kind }) => kind === 'forwarder');
  const tails = await epochTails(tx, forwarders, indexesPerEpoch, tailEpochs);
  const count = Math.min(watchedOfEpoch, Math.max(fewestOfTail, Math.floor(mostOfTails / tails.length)));
  let watched = 0;
  for (const { accountId, environment, destination, last, ...epoch } of tails) {
    const indexes = range(last === null ? firstIndexOf(epoch) : BigInt(last) + 1n, count);
    watched += await insertLostAddresses(
      tx,
      lostOf(vault, { accountId, environment, kind: 'forwarder', destination }, indexes),
    );
  }
  return watched;
};

const [gateName, sinceName] = ['restore_gate', 'restore_since'];
/**
 * A closed gate is not opened again by a weaker finding. The time of the backup is kept from the first one: later ones
 * know it less well.
 */
const closeGate = async (tx: Queryable, gate: Exclude<RestoreGate, 'open'>): Promise<void> => {
  const before = await readRestoreGate(tx);
  if (before === 'open') await putDeploymentValue(tx, sinceName, (await timeBeforeRun(tx))?.toISOString() ?? '');
  if (before !== 'production') await putDeploymentValue(tx, gateName, gate);
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
    const watched =
      (await skipExtendedKeys(tx, vault, wallets)) +
      (await watchTails(tx, vault, wallets)) +
      (await watchEpochs(tx, vault, wallets, lost));
    await closeGate(tx, lost.length > 0 ? 'production' : 'extended_keys');
    const epochs = lost.map(formatEpoch);
    log.error({ isMoved, epochs, watched }, 'the database was restored or moved: run florin restored');
  });
  return readRestoreGate(db);
};

export type Declared = { readonly wasDetected: boolean; readonly watched: number; readonly since: Date };

/**
 * The operator declares a restore, or confirms a detected one, and may say of when the backup is. Returns how many
 * addresses are watched in addition, and since when the chains are read again. A detected restore has skipped its indexes
 * already.
 */
export const declareRestored = async ({ db, vault }: Admin, backupAt: Date | null = null): Promise<Declared> => {
  await deriveAhead(db);
  return db.transaction(async tx => {
    // A move that no process has noticed yet is declared with this, and must not be reported afterwards.
    const isMoved = await claimDatabaseIdentity(tx, await readDatabaseIdentity(tx));
    const wasDetected = !isMoved && (await readRestoreGate(tx)) !== 'open';
    const wallets = wasDetected ? [] : await usedWallets(tx);
    const watched = (await skipExtendedKeys(tx, vault, wallets)) + (await watchTails(tx, vault, wallets));
    const found = wasDetected ? await sinceOfDetected(tx) : null;
    const since = backupAt ?? found ?? (await timeBeforeRun(tx)) ?? (await readNow(tx));
    await rescanAfterRestore(tx, since);
    await putDeploymentValue(tx, gateName, 'open');
    return { wasDetected, watched, since };
  });
};

/** Watches the addresses of an epoch that a log of the lost time names, and reads the chains again since then. */
export const watchLostEpoch = async ({ db, vault }: Admin, epoch: Epoch): Promise<number> =>
  db.transaction(async tx => {
    const { isOwn, isFuture } = await judgeEpoch(tx, epoch);
    if (isFuture) throw invalid('epoch', 'This epoch is in the future. Copy it from the log.');
    if (isOwn) throw invalid('epoch', 'This epoch is not lost: the database knows it.');
    const watched = await watchEpochs(tx, vault, await usedWallets(tx), [epoch]);
    await rescanAfterRestore(tx, timeBefore(epoch));
    return watched;
  });

const refreshMs = 500;

/** Tells whether production waits for the operator. Asks the database at most twice a second. */
export const createRestoreGate = (db: Database, nowMs: () => number): (() => Promise<RestoreGate>) => {
  let kept: { readonly gate: Promise<RestoreGate>; readonly untilMs: number } | null = null;
  return () => {
    if (kept === null || nowMs() >= kept.untilMs) {
      const gate = readRestoreGate(db);
      kept = { gate, untilMs: nowMs() + refreshMs };
      gate.catch(() => {
        kept = null;
      });
    }
    return kept.gate;
  };
};
