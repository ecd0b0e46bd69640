import type { Actions, ChainFacts, Facts, Heights, Transfer } from '../../core/payment/facts.ts';
import type { StoredTransfer } from '../../storage/chain/transferSeals.ts';
import type { PaymentRow, ShownPayment } from '../../storage/payments/payments.ts';
import type { Context } from '../context.ts';
import { assertGenuineTransfers, genuineHeights } from './fundsSeal.ts';
import { readTiers } from './readTiers.ts';

/** A payment's transfers, and how far its chain is read. */
export type Funds = { readonly transfers: readonly StoredTransfer[]; readonly heights: Heights };

const nothingRead: Heights = { latest: null, safe: null, finalized: null, agreed: null };
export const noFunds: Funds = { transfers: [], heights: nothingRead };

/** Throws if they were changed in the database. */
export const fundsOf = (context: Pick<Context, 'vault' | 'log'>, row: ShownPayment): Funds => {
  const { transfers, chain } = row;
  if (transfers === null) return noFunds;
  assertGenuineTransfers(context, row, transfers);
  return { transfers, heights: chain === null ? nothingRead : genuineHeights(context, row, chain) };
};

const acceptedOf = ({ amountAccepted, acceptedAt }: PaymentRow): Actions['accepted'] =>
  amountAccepted === null || acceptedAt === null ? null : { amount: BigInt(amountAccepted), at: acceptedAt.getTime() };

const transferOf = (stored: StoredTransfer): Transfer => ({
  key: stored.key,
  hash: stored.txHash,
  amount: BigInt(stored.amount),
  firstSeenAt: stored.firstSeenMs,
  block: { number: stored.blockNumber, hash: stored.blockHash, timestamp: stored.blockTimeMs },
  canonical: stored.canonical,
  verified: stored.verified,
});

/** Strays come from any chain, and a key is unique only within its chain. */
export const strayKey = ({ caip2, key }: StoredTransfer): string => `${caip2} ${key}`;

/** `told`: an event has reported the stray. */
export const isUnreportedStray = ({ stray, canonical, told }: StoredTransfer): boolean => stray && canonical && !told;

/**
 * The facts of a stored payment. Strays that were reported are left out, and at most `maxStrays` of the others are
 * included.
 */
export const factsOf = (
  row: PaymentRow,
  { transfers, heights }: Funds,
  caughtUpAt: Date | null,
  maxStrays: number,
): Facts => {
  const credits = transfers.filter(({ stray }) => !stray);
  const strays = transfers.filter(isUnreportedStray).slice(0, maxStrays);
  const chain: ChainFacts = {
    ...heights,
    caughtUpAt: caughtUpAt?.getTime() ?? null,
    addressReadAt: row.balanceCheckedAt?.getTime() ?? null,
  };
  return {
    terms: {
      amount: BigInt(row.amount),
      toleranceBps: row.toleranceBps,
      dustFloor: BigInt(row.dustFloor),
      tiers: readTiers(row.tiers),
      latePolicy: row.latePolicy,
      lateWindowSeconds: row.lateWindowSeconds,
      createdAt: row.createdAt.getTime(),
      expiresAt: row.expiresAt.getTime(),
    },
    transfers: credits.map(transferOf),
    strays: strays.map(stray => ({ key: strayKey(stray) })),
    chain,
    actions: {
      canceledAt: row.canceledAt?.getTime() ?? null,
      accepted: acceptedOf(row),
      timeEndedAt: row.timeEndedAt?.getTime() ?? null,
    },
    history: {
      status: row.status,
      exception: row.exception,
      amountReceived: BigInt(row.amountReceived),
      detected: row.detected,
      completedAt: row.completedAt?.getTime() ?? null,
      settled: credits.filter(({ settled }) => settled).map(({ key }) => key),
      strays: [],
      sequence: row.sequence,
    },
  };
};
