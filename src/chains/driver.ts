import type { Block, FactoryState, Tags, WatchedBlock } from '../core/chain.ts';

/**
 * A step after the cursor. Steps must be applied in order.
 * - `blocks`: at least one block, each the child of the one before. With `rollbackTo`, the blocks above it are gone and
 *   the first block is its child. Without, the first block is the child of the cursor.
 * - `idle`: no new block after `at`, but the tags may have moved. `caughtUpAt` is when the poll began that found every
 *   block processed; null if it did not.
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

export type Driver = {
  /**
   * Yields steps until the signal is aborted. A step counts as applied once the next one is requested. Faults of nodes
   * are handled inside and show in `health`.
   */
  follow(cursor: Block | null, host: DriverHost, signal: AbortSignal): AsyncGenerator<ChainStep>;
  /** Reads a block near the head again, with all checks; null if the node cannot provide it now. */
  reread(number: number, host: DriverHost, signal: AbortSignal): Promise<WatchedBlock | null>;
  /**
   * Native coin balances at a block, as reported by one node or by the quorum. Null if too few nodes have the state of
   * that block.
   */
  coinBalances(
    block: Pick<Block, 'number' | 'hash'>,
    holders: readonly string[],
    sources: 'one' | 'quorum',
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, bigint> | null>;
  /** Null before the first poll, and until the listed tokens have been checked. */
  health(): ChainHealth | null;
};
