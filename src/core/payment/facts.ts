import type { PaymentException, PaymentStatus } from './states.ts';

/** When a transfer is final. A tag with a depth asks for both, as Polygon does (`finalized` and 64 blocks). */
export type ConfirmationRule =
  | { readonly kind: 'finalized' | 'safe'; readonly depth?: number }
  | { readonly kind: 'depth'; readonly depth: number };

/** The rule for sums of at least `atLeast` base units. */
export type ConfirmationTier = { readonly atLeast: bigint; readonly rule: ConfirmationRule };

/** Frozen when the payment is created. All instants are milliseconds since 1970 by the database's clock. */
export type Terms = {
  readonly amount: bigint;
  /** Hundredths of a percent, 0 … 500. */
  readonly toleranceBps: number;
  /** In any order. The tier with the greatest `atLeast` not above max(amount, received) decides. */
  readonly tiers: readonly [ConfirmationTier, ...ConfirmationTier[]];
  readonly latePolicy: 'accept' | 'manual';
  readonly lateWindowSeconds: number;
  readonly createdAt: number;
  readonly expiresAt: number;
};

export type BlockRef = { readonly number: number; readonly hash: string; readonly timestamp: number };

/** Funds of the right token on the right network, sent to the payment's address. */
export type Transfer = {
  /** Identity within the chain: a transfer mined again in another block is another transfer. */
  readonly key: string;
  /** Null where it is not known which transaction of the block moved the funds. */
  readonly hash: string | null;
  readonly from: string | null;
  readonly amount: bigint;
  /** When its transaction was first seen in any form; being mined again elsewhere does not renew it. */
  readonly firstSeenAt: number;
  /** Null while unconfirmed. */
  readonly block: BlockRef | null;
  /** False once the block is orphaned or, while unconfirmed, once the transaction is replaced or dropped. */
  readonly canonical: boolean;
  /** Whether what one node told of it was checked against something else. Until then it counts, but is never final. */
  readonly verified: boolean;
};

/** A wrong token, or the right one on a wrong network: told once, never credited. */
export type Stray = { readonly key: string };

/** A height up to which something holds. It falls only when blocks are rolled back. */
export type Frontier = 'latest' | 'safe' | 'finalized' | 'agreed';

/**
 * `latest` is the last processed block, `safe` and `finalized` are the tags as far as blocks are processed, and up to
 * `agreed` as many nodes as are asked for name the same blocks.
 */
export type Heights = Readonly<Record<Frontier, number | null>>;

export type ChainFacts = Heights & {
  /** When the latest poll that found every block processed began. */
  readonly caughtUpAt: number | null;
};

export type Actions = {
  readonly canceledAt: number | null;
  /** The latest resolve: the sum received at that moment. It overrides an earlier cancel. */
  readonly accepted: { readonly amount: bigint; readonly at: number } | null;
  /** The sandbox's way to end a payment's time early. */
  readonly timeEndedAt: number | null;
};

/** What was decided last. It is read to walk the legal path and to know what was told already. */
export type History = {
  readonly status: PaymentStatus;
  readonly exception: PaymentException | null;
  readonly amountReceived: bigint;
  /** Whether `payment.detected` was told. */
  readonly detected: boolean;
  /** The latest completion, kept through a reversal. */
  readonly completedAt: number | null;
  /** Keys of the transfers that were final while the payment stood completed; empty in every other status. */
  readonly settled: readonly string[];
  /** Keys of the strays told already. */
  readonly strays: readonly string[];
  /** Of the last event; `payment.created` is 1. */
  readonly sequence: number;
};

export type Facts = {
  readonly terms: Terms;
  readonly transfers: readonly Transfer[];
  readonly strays: readonly Stray[];
  readonly chain: ChainFacts;
  readonly actions: Actions;
  readonly history: History;
};

/** The history of a payment that has just been created and told by `payment.created`. */
export const freshHistory: History = {
  status: 'pending',
  exception: null,
  amountReceived: 0n,
  detected: false,
  completedAt: null,
  settled: [],
  strays: [],
  sequence: 1,
};
