import type { PaymentException, PaymentStatus } from './states.ts';

/** When a transfer is final. A tag with a depth requires both, as on Polygon (`finalized` and 64 blocks). */
export type ConfirmationRule =
  | { readonly kind: 'finalized' | 'safe'; readonly depth?: number }
  | { readonly kind: 'depth'; readonly depth: number };

/** The rule for sums of at least `atLeast` base units. */
export type ConfirmationTier = { readonly atLeast: bigint; readonly rule: ConfirmationRule };

/** Frozen when the payment is created. All times are Unix milliseconds of the database's clock. */
export type Terms = {
  readonly amount: bigint;
  /** Hundredths of a percent, 0 … 500. */
  readonly toleranceBps: number;
  /** Base units. Smaller sums that are also below 1 % of the amount are dust; 0 if no sum is. */
  readonly dustFloor: bigint;
  /** In any order. The tier with the greatest `atLeast` that is not above max(amount, received) applies. */
  readonly tiers: readonly [ConfirmationTier, ...ConfirmationTier[]];
  readonly latePolicy: 'accept' | 'manual';
  readonly lateWindowSeconds: number;
  readonly createdAt: number;
  readonly expiresAt: number;
};

export type BlockRef = { readonly number: number; readonly hash: string; readonly timestamp: number };

/** Funds in the payment's token, on its network, sent to its address. */
export type Transfer = {
  /** Unique within the chain. The same transaction mined in another block is another transfer. */
  readonly key: string;
  /** Null if it is unknown which transaction moved the funds. */
  readonly hash: string | null;
  readonly amount: bigint;
  /** When its transaction was first seen. Being mined again in another block does not change it. */
  readonly firstSeenAt: number;
  /** Null while unconfirmed. */
  readonly block: BlockRef | null;
  /** False once the block is orphaned or, while unconfirmed, once the transaction is replaced or dropped. */
  readonly canonical: boolean;
  /** Whether a second source confirmed it. Until then it counts as received but never becomes final. */
  readonly verified: boolean;
};

/** Funds in another token or on another network. Reported once, never credited. */
export type Stray = { readonly key: string };

/** A height up to which a property holds. It decreases only when blocks are rolled back. */
export type Frontier = 'latest' | 'safe' | 'finalized' | 'agreed';

/**
 * `latest` is the last processed block. `safe` and `finalized` are the nodes' tags, limited to processed blocks. Up to
 * `agreed`, enough nodes report the same blocks.
 */
export type Heights = Readonly<Record<Frontier, number | null>>;

export type ChainFacts = Heights & {
  /** Up to this time, every block is processed. */
  readonly caughtUpAt: number | null;
  /** Up to this time, the balances of the payment's address agree with its transfers. */
  readonly addressReadAt: number | null;
};

export type Actions = {
  readonly canceledAt: number | null;
  /** The latest resolve, with the sum received then. It overrides an earlier cancel. */
  readonly accepted: { readonly amount: bigint; readonly at: number } | null;
  /** Set by the sandbox to end the payment's time early. */
  readonly timeEndedAt: number | null;
};

/** The last decision. It is the start of the legal path, and it says which funds were already reported. */
export type History = {
  readonly status: PaymentStatus;
  readonly exception: PaymentException | null;
  readonly amountReceived: bigint;
  /** Whether `payment.detected` was sent. */
  readonly detected: boolean;
  /** The latest completion. A reversal keeps it. */
  readonly completedAt: number | null;
  /**
   * Keys of the transfers that were final when the payment was last decided as completed; empty in every other status.
   */
  readonly settled: readonly string[];
  /** Keys of the strays that were reported. */
  readonly strays: readonly string[];
  /** Sequence of the last event; `payment.created` is 1. */
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

/** The history right after `payment.created`. */
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
