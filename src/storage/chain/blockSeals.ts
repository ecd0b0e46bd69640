import type { Block } from '../../core/chain.ts';
import { isSealedAs, type LargeTable, msText, type RowSealer } from '../largeSeals.ts';

const table = 'blocks';

/** A block, and the branch of its chain in which a node showed it last; null in older rows. */
export type StoredBlock = Block & { readonly branch: number | null };

const valuesOf = (caip2: string, { hash, number, parentHash, timestamp, branch }: StoredBlock): string[] => [
  caip2,
  // One value, so that the seals of older rows stay right.
  branch === null ? hash : `${hash} ${branch}`,
  String(number),
  parentHash,
  String(Math.round(timestamp * 1000)),
];

export const blockSeals: LargeTable = {
  table,
  key: ['caip2', 'hash'],
  values: ['t.caip2', `concat_ws(' ', t.hash, t.branch)`, 't.number::text', 't.parent_hash', msText('t.timestamp')],
  covered: ['caip2', 'hash', 'branch', 'number', 'parent_hash', 'timestamp'],
  open: {
    canonical: 'follows from the branches of the chain, and is compared with them',
    empty: 'says only whether an old block may be deleted, which is refused while a transfer names it',
  },
};

export const sealBlock = (sealer: RowSealer, caip2: string, block: StoredBlock): Buffer =>
  sealer.rowSeal(table, valuesOf(caip2, block));

/** A stored block that Florin did not write. To act on it could roll back blocks that are on the chain. */
export class ForgedBlock extends Error {
  constructor(caip2: string, number: number) {
    super(
      `block ${number} of ${caip2} was changed in the database: run florin doctor, and restore the database from a backup`,
    );
  }
}

const isBlockSealed = (sealer: RowSealer, caip2: string, block: StoredBlock, seal: string | null): boolean =>
  isSealedAs(sealer, table, valuesOf(caip2, block), seal);

export const assertBlockSealed = (sealer: RowSealer, caip2: string, block: StoredBlock, seal: string | null): void => {
  if (!isBlockSealed(sealer, caip2, block, seal)) throw new ForgedBlock(caip2, block.number);
};

/** What is in a block, with what the seal of the block covers. */
export type PlacedInBlock = {
  readonly caip2: string;
  readonly blockHash: string;
  readonly blockNumber: number;
  readonly blockTimeMs: number;
  readonly parentHash: string;
  readonly branch: number | null;
  readonly blockSeal: string | null;
};

/** The block of what is in it; null if somebody changed in which branch a node showed it. */
export const genuineBlockOf = (sealer: RowSealer, placed: PlacedInBlock): StoredBlock | null => {
  const { caip2, blockHash: hash, blockNumber: number, blockTimeMs, parentHash, branch, blockSeal } = placed;
  const block = { hash, number, parentHash, timestamp: blockTimeMs / 1000, branch };
  return branch === null || isBlockSealed(sealer, caip2, block, blockSeal) ? block : null;
};
