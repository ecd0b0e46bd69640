import type { Block } from '../../core/chain.ts';
import { isSealedAs, type LargeTable, msText, type RowSealer } from '../largeSeals.ts';

const table = 'blocks';

const valuesOf = (caip2: string, { hash, number, parentHash, timestamp }: Block): string[] => [
  caip2,
  hash,
  String(number),
  parentHash,
  String(Math.round(timestamp * 1000)),
];

export const blockSeals: LargeTable = {
  table,
  key: ['caip2', 'hash'],
  values: ['t.caip2', 't.hash', 't.number::text', 't.parent_hash', msText('t.timestamp')],
  covered: ['caip2', 'hash', 'number', 'parent_hash', 'timestamp'],
  open: {
    canonical: 'set back and forth by reorganizations, so that an earlier seal could be put back with it',
    empty: 'says only whether an old block may be deleted, which is refused while a transfer names it',
  },
};

export const sealBlock = (sealer: RowSealer, caip2: string, block: Block): Buffer =>
  sealer.rowSeal(table, valuesOf(caip2, block));

/** A stored block that Florin did not write. To act on it could roll back blocks that are on the chain. */
export class ForgedBlock extends Error {
  constructor(caip2: string, number: number) {
    super(
      `block ${number} of ${caip2} was changed in the database: run florin doctor, and restore the database from a backup`,
    );
  }
}

export const assertBlockSealed = (sealer: RowSealer, caip2: string, block: Block, seal: string | null): void => {
  if (!isSealedAs(sealer, table, valuesOf(caip2, block), seal)) throw new ForgedBlock(caip2, block.number);
};
