import { setImmediate as letOthersRun } from 'node:timers/promises';
import { deriveXpubAddress } from '../../chains/evm/xpub.ts';
import { xpubIdentity } from '../../chains/evm/xpubIdentity.ts';
import { type Epoch, firstIndexOf, indexesPerEpoch } from '../../core/epoch.ts';
import type { LostAddress } from '../../storage/chain/lostAddressSeals.ts';
import {
  epochTails,
  insertLostAddresses,
  insertLostEpochs,
  lostSeries,
  nextIndex,
  skipIndexes,
  type UsedWallet,
  usedWallets,
} from '../../storage/chain/restores.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import type { Vault } from '../../vault/vault.ts';
import { deriveAddress } from '../payments/paymentAddress.ts';

/**
 * Indexes of an extended public key that are skipped after a restore: more than were handed out since the backup. Wallets
 * need a gap limit above it.
 */
export const skippedIndexes = 20_000;
/**
 * Watched as soon as a restore is found: of each extended public key, and of each account and treasury in an epoch. More
 * would take longer than other processes wait for the transaction. The operator's command watches the others.
 */
export const watchedAtOnce = 1_000;
/** Derivations between which requests are served: a restore may be found while the process runs. */
const derivedAtOnce = 50;
/** Watched in the end, of each account and treasury in an epoch: as many as a large shop creates between two backups. */
const watchedOfEpoch = 10_000;
/** If there are many accounts or keys, fewer of each are watched. */
const [mostAtOnce, mostOfForwarders, mostOfKeys] = [20_000, 200_000, 40_000];
const forwardersAtOnce = 1_000;
/** The newest epochs are those of processes that ran when the backup was taken. */
const tailEpochs = 5;

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

/** One wallet of each extended public key, by series: several accounts may share a key. */
const extendedKeys = (wallets: readonly UsedWallet[]): [series: string, wallet: UsedWallet][] => [
  ...new Map(wallets.filter(({ kind }) => kind === 'xpub').map(wallet => [seriesOf(wallet.destination), wallet])),
];

type Part = { readonly wallet: UsedWallet; readonly first: bigint; readonly count: number };

/** Watches the addresses of these indexes. Others are served meanwhile. */
const watch = async (tx: Queryable, vault: Vault, { wallet, first, count }: Part): Promise<number> => {
  const step = wallet.kind === 'xpub' ? derivedAtOnce : forwardersAtOnce;
  let watched = 0;
  for (let at = 0; at < count; at += step) {
    const indexes = range(first + BigInt(at), Math.min(step, count - at));
    watched += await insertLostAddresses(tx, vault, lostOf(vault, wallet, indexes));
  }
  return watched;
};

/**
 * Derives the first addresses that a restore skips. Each takes a millisecond, which is too long for a transaction that
 * other processes wait for. The derivation remembers them.
 */
export const deriveAhead = async (db: Database): Promise<void> => {
  for (const [series, { destination }] of extendedKeys(await usedWallets(db))) {
    const first = await nextIndex(db, series);
    for (let at = 0; at < watchedAtOnce; at++) {
      deriveXpubAddress(destination, first + at);
      if (at % derivedAtOnce === 0) await letOthersRun();
    }
  }
};

/** Skips the indexes that may have been handed out, and watches the first of them. */
export const skipExtendedKeys = async (
  tx: Queryable,
  vault: Vault,
  wallets: readonly UsedWallet[],
): Promise<number> => {
  let watched = 0;
  for (const [series, wallet] of extendedKeys(wallets)) {
    const first = await skipIndexes(tx, series, skippedIndexes);
    watched += await watch(tx, vault, { wallet, first, count: watchedAtOnce });
  }
  return watched;
};

/** How many of each are watched if all together are to be at most `most`. */
const shareOf = (most: number, among: number, { from, to }: { readonly from: number; readonly to: number }): number =>
  Math.min(to, Math.max(from, Math.floor(most / among)));

const forwardersFound = (series: number): number => shareOf(mostAtOnce, series, { from: 1, to: watchedAtOnce });

export const watchEpochs = async (
  tx: Queryable,
  vault: Vault,
  wallets: readonly UsedWallet[],
  epochs: readonly Epoch[],
): Promise<number> => {
  const forwarders = wallets.filter(({ kind }) => kind === 'forwarder');
  const count = forwardersFound(epochs.length * forwarders.length);
  let watched = 0;
  for (const epoch of epochs) {
    for (const wallet of forwarders) watched += await watch(tx, vault, { wallet, first: firstIndexOf(epoch), count });
  }
  if (epochs.length > 0) await insertLostEpochs(tx, epochs);
  return watched;
};

/**
 * Processes that ran when a backup was taken went on in epochs that the backup contains. Watches what they may have handed
 * out after it. Some of these addresses may be handed out later: they count as lost only while no payment has them.
 */
export const watchTails = async (tx: Queryable, vault: Vault, wallets: readonly UsedWallet[]): Promise<number> => {
  const forwarders = wallets.filter(({ kind }) => kind === 'forwarder');
  const tails = await epochTails(tx, forwarders, indexesPerEpoch, tailEpochs);
  const count = forwardersFound(tails.length);
  let watched = 0;
  for (const { accountId, environment, destination, last, ...epoch } of tails) {
    const first = last === null ? firstIndexOf(epoch) : BigInt(last) + 1n;
    watched += await watch(tx, vault, {
      wallet: { accountId, environment, kind: 'forwarder', destination },
      first,
      count,
    });
  }
  return watched;
};

export type Progress = (done: number, of: number) => void;

/** The skipped indexes of extended public keys. They must not be handed out meanwhile. */
export const skippedParts = async (db: Database, most: number = mostOfKeys): Promise<Part[]> => {
  const keys = extendedKeys(await usedWallets(db));
  const count = shareOf(most, keys.length, { from: watchedAtOnce, to: skippedIndexes });
  const parts: Part[] = [];
  for (const [series, wallet] of keys) {
    parts.push({ wallet, first: BigInt(Math.max(0, (await nextIndex(db, series)) - skippedIndexes)), count });
  }
  return parts;
};

/** The forwarders after those that are watched of each epoch, account and treasury. */
export const forwarderParts = async (db: Database, most: number = mostOfForwarders): Promise<Part[]> => {
  const series = await lostSeries(db, indexesPerEpoch);
  const ofEach = shareOf(most, series.length, { from: 20, to: watchedOfEpoch });
  return series.map(({ accountId, environment, destination, last, count }) => ({
    wallet: { accountId, environment, kind: 'forwarder', destination },
    first: BigInt(last) + 1n,
    count: Math.max(0, ofEach - count),
  }));
};

/** Watches what a restore that was found has left, in small steps. Returns how many addresses are new. */
export const watchParts = async (
  { db, vault }: { readonly db: Database; readonly vault: Vault },
  parts: readonly Part[],
  onProgress: Progress,
): Promise<number> => {
  const all = parts.reduce((sum, { count }) => sum + count, 0);
  let [done, watched] = [0, 0];
  for (const { wallet, first, count } of parts) {
    for (let at = 0; at < count; at += watchedAtOnce) {
      const part = { wallet, first: first + BigInt(at), count: Math.min(watchedAtOnce, count - at) };
      watched += await watch(db, vault, part);
      done += part.count;
      onProgress(done, all);
    }
  }
  return watched;
};
