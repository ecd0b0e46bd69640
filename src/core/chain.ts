/** The fields of a block that Florin uses. Hashes are lower-case hexadecimal. */
export type Block = {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  /** Unix seconds. */
  readonly timestamp: number;
};

/** Clocks of block producers differ: a block's timestamp may be earlier than its creation by this much. */
export const clockSlackMs = 60_000;

/** Whether a chain has the forwarder factory at its address, judged by the hash of the code there. */
export type FactoryState = 'present' | 'absent' | 'different_code';

/** Funds that reached an address in a block. Addresses are in their canonical, checksummed form. */
export type Movement = {
  /**
   * Unique within the chain. It contains the block hash, so a transaction mined again in another block is another
   * movement.
   */
  readonly key: string;
  /** Null if the transaction is unknown: native coin sent by a contract is found by a change of balance. */
  readonly txHash: string | null;
  readonly from: string | null;
  readonly to: string;
  /** Null for the native coin. */
  readonly contract: string | null;
  /** Never zero. */
  readonly amount: bigint;
  /** Whether a source other than the answer that reported it confirms it. */
  readonly verified: boolean;
};

/** Funds that left a payment's address for its treasury. */
export type Forward = {
  /** Unique within the chain, like a movement's key. */
  readonly key: string;
  readonly txHash: string;
  readonly from: string;
  /** Null for the native coin. */
  readonly contract: string | null;
  readonly amount: bigint;
  /**
   * As for a movement. Forwarded sums are added to the balance to find missed coin, so a false one would be credited.
   */
  readonly verified: boolean;
};

export type WatchedBlock = Block & { readonly movements: readonly Movement[]; readonly forwards: readonly Forward[] };

/** The heights up to which the nodes' tags and their agreement reach. Null if no node reports one. */
export type Tags = {
  readonly safe: number | null;
  readonly finalized: number | null;
  readonly agreed: number | null;
};
