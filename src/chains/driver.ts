/** The newest block a chain answers with. */
export type ChainHead = {
  readonly number: bigint;
  readonly hash: string;
  /** The block's own time, in Unix seconds. */
  readonly timestamp: number;
  readonly chainId: number;
};
