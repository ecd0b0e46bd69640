/** A block as far as Florin needs to know it. Hashes are lower-case hexadecimal. */
export type Block = {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  /** The block's own time, in Unix seconds. */
  readonly timestamp: number;
};

/** Funds that reached an address in a block. Addresses are in their canonical, checksummed form. */
export type Movement = {
  /** Identity within the chain; it names the block, so a transaction mined again elsewhere is another movement. */
  readonly key: string;
  /** Null where the transaction is not known: native coin that a contract sent, found by the balance. */
  readonly txHash: string | null;
  readonly from: string | null;
  readonly to: string;
  /** Null: the native coin. */
  readonly contract: string | null;
  /** Never zero. */
  readonly amount: bigint;
  /** Whether it was checked against more than the one answer that told of it. */
  readonly verified: boolean;
};

/** Funds that left a payment's address for its treasury. */
export type Forward = {
  /** Identity within the chain, as of a movement. */
  readonly key: string;
  readonly txHash: string;
  readonly from: string;
  /** Null: the native coin. */
  readonly contract: string | null;
  readonly amount: bigint;
  /** As of a movement. What left an address is added to what it holds, so that a false one would be credited. */
  readonly verified: boolean;
};

export type WatchedBlock = Block & { readonly movements: readonly Movement[]; readonly forwards: readonly Forward[] };

/** How far nodes' tags and their agreement reach; null where no node says. */
export type Tags = {
  readonly safe: number | null;
  readonly finalized: number | null;
  readonly agreed: number | null;
};
