import type { Block, Tags, WatchedBlock } from '../core/chain.ts';

/**
 * What follows on the cursor, in the order in which it must be applied.
 * - `blocks`: at least one, each the child of the one before. With `rollbackTo`, the blocks above that one are gone and
 *   the first is its child; without, the first is the child of the cursor.
 * - `idle`: nothing new after `at`, but the tags may have moved. `caughtUpSince` is when the poll began that found every block
 *   processed, or null if it did not find that.
 * - `halt`: blocks that must not change have changed. Nobody but the operator can say what holds.
 */
export type ChainStep =
  | {
      readonly kind: 'blocks';
      readonly rollbackTo: Block | null;
      readonly blocks: readonly WatchedBlock[];
      readonly tags: Tags;
    }
  | { readonly kind: 'idle'; readonly at: Block; readonly tags: Tags; readonly caughtUpSince: Date | null }
  | { readonly kind: 'halt'; readonly reason: string };

/** What a driver asks of the one who runs it. */
export type Surroundings = {
  /** Which of these addresses are payments'. */
  known(addresses: readonly string[]): Promise<ReadonlySet<string>>;
  /** The canonical block stored at this height, null when it is not kept. */
  stored(number: number): Promise<Block | null>;
  /** The finality that was told before: nothing at or below it may be rolled back. */
  finalized(): number | null;
  /** The database's clock. */
  now(): Promise<Date>;
};

export type ChainHealth = {
  readonly status: 'operational' | 'degraded' | 'down';
  readonly reason: string | null;
  readonly latestBlock: number | null;
  /** Age of the newest block; null while no node answers. */
  readonly lagSeconds: number | null;
  /** Contracts of listed tokens that are not there as they are listed, with the reason. */
  readonly unfitTokens: ReadonlyMap<string, string>;
};

export type Driver = {
  /**
   * Yields steps until the signal is aborted. A step counts as applied when the next one is asked for. Faults of nodes
   * are waited out in here and show in `health`.
   */
  follow(cursor: Block | null, surroundings: Surroundings, signal: AbortSignal): AsyncGenerator<ChainStep>;
  /** A block near the head once more, with all its checks; null where no node has it now. */
  reread(number: number, surroundings: Surroundings, signal: AbortSignal): Promise<WatchedBlock | null>;
  /**
   * Native coin that these addresses hold at a block, by the word of one node or of as many as must agree on what is
   * final. Null where too few of those that answer have that block's state.
   */
  coinBalances(
    block: Pick<Block, 'number' | 'hash'>,
    holders: readonly string[],
    voices: 'one' | 'quorum',
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, bigint> | null>;
  /** Null before the first poll. */
  health(): ChainHealth | null;
};
