import type { Database } from '../storage/database.ts';
import { takeIndexes } from '../storage/wallets.ts';

/**
 * Hands out derivation indexes from blocks reserved in the database, so that creating a payment does not wait on a
 * counter row. The rest of a block is lost when the process ends; a gap costs a forwarder nothing. Wallets scan an
 * extended public key with a gap limit, so its indexes are reserved one at a time.
 */
export type DerivationIndexes = { next(series: string, kind: 'forwarder' | 'xpub'): Promise<bigint> };

const blockSize = { forwarder: 512, xpub: 1 } as const;
const maxSeries = 10_000;

export const createDerivationIndexes = (db: Database): DerivationIndexes => {
  type Block = { next: bigint; end: bigint; refill: Promise<void> | null };
  const blocks = new Map<string, Block>();

  const refill = async (series: string, block: Block, size: number): Promise<void> => {
    const first = await takeIndexes(db, series, size);
    block.next = first;
    block.end = first + BigInt(size);
  };

  return {
    async next(series, kind) {
      let block = blocks.get(series);
      if (!block) {
        if (blocks.size >= maxSeries) blocks.clear();
        block = { next: 0n, end: 0n, refill: null };
        blocks.set(series, block);
      }
      while (block.next >= block.end) {
        const current = block;
        current.refill ??= refill(series, current, blockSize[kind]).finally(() => {
          current.refill = null;
        });
        await current.refill;
      }
      return block.next++;
    },
  };
};
