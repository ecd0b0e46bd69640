import type { Block, FactoryState, Tags, WatchedBlock } from '../core/chain.ts';

/**
 * A step after the cursor. Steps must be applied in order.
 * - `blocks`: at least one block, each the child of the one before. With `rollbackTo`, the blocks above it are gone and
 *   the first block is its child. Without, the first block is the child of the cursor.
 * - `idle`: no new block after `at`, but the tags may have moved. `caughtUpAt` is the time up to which every block is
 *   processed: when the poll began or, on a chain that always has new blocks, the time of its head if that is earlier.
 *   Null if the poll did not find every block processed.
 * - `halt`: blocks that must not change have changed. Only the operator can decide what is right.
 */
export type ChainStep =
  | {
      readonly kind: 'blocks';
      readonly rollbackTo: Block | null;
      readonly blocks: readonly WatchedBlock[];
      readonly tags: Tags;
    }
  | { readonly kind: 'idle'; readonly at: Block; readonly tags: Tags; readonly caughtUpAt: Date | null }
  | { readonly kind: 'halt'; readonly reason: string };

/** What a driver needs from the process that runs it. */
export type DriverHost = {
  /** The subset of these addresses that belong to payments. */
  paymentAddresses(addresses: readonly string[]): Promise<ReadonlySet<string>>;
  /** The canonical block stored at this height; null if none is kept. */
  storedBlock(number: number): Promise<Block | null>;
  /** The recorded finalized height. Nothing at or below it may be rolled back. */
  finalizedHeight(): number | null;
  /** The database's clock. */
  now(): Promise<Date>;
};

export type ChainHealth = {
  readonly status: 'operational' | 'degraded' | 'down';
  readonly reason: string | null;
  readonly latestBlock: number | null;
  /** Age of the newest block; null if no node answers. */
  readonly lagSeconds: number | null;
  /** Listed tokens that the chain does not have as listed, by contract, with the reason. */
  readonly unfitTokens: ReadonlyMap<string, string>;
  /** Why no new payments can be accepted although the chain is read, or null. */
  readonly refusal: string | null;
  /** Null until a node has answered. */
  readonly factory: FactoryState | null;
};

export type BlockRange = { readonly from: number; readonly to: number };

export type BalanceQuestion = {
  /** Null for the native coin. */
  readonly token: string | null;
  readonly holders: readonly string[];
  readonly block: Pick<Block, 'hash'>;
};
export type BalanceSources = 'one' | 'lowest' | 'highest';
export type BalanceAnswer = ReadonlyMap<string, bigint> | null;

export type Driver = {
  /** The token contracts that this driver reads. */
  readonly contracts: readonly string[];
  /**
   * Yields steps until the signal is aborted. A step counts as applied once the next one is requested. Faults of nodes
   * are handled inside and show in `health`.
   */
  follow(cursor: Block | null, host: DriverHost, signal: AbortSignal): AsyncGenerator<ChainStep>;
  /** Reads a block near the head again, with all checks; null if the node cannot provide it now. */
  reread(number: number, host: DriverHost, signal: AbortSignal): Promise<WatchedBlock | null>;
  /**
   * Reads a range of blocks again, from as many nodes as must agree, with all checks. The result has all that any of
   * them reports. Null if too few answer now, or if they report different blocks.
   */
  rereadRange(range: BlockRange, host: DriverHost, signal: AbortSignal): Promise<readonly WatchedBlock[] | null>;
  /** The block at a height, if as many nodes as must agree report the same one now; else null. */
  header(number: number, signal: AbortSignal): Promise<Block | null>;
  /** Heights in a range at which any node has a transfer of the token to an address. Null if too few nodes answer. */
  transferBlocks(
    token: string,
    addresses: readonly string[],
    range: BlockRange,
    signal: AbortSignal,
  ): Promise<readonly number[] | null>;
  /**
   * Balances at a block: as one node reports them, or the lowest or highest that enough nodes to agree report. Null if
   * too few nodes have the state of that block.
   */
  balances(question: BalanceQuestion, sources: BalanceSources, signal: AbortSignal): Promise<BalanceAnswer>;
  /** Null before the first poll, and until the listed tokens have been checked. */
  health(): ChainHealth | null;
};
