import type { Database } from '../../storage/database.ts';
import { SealBroken, type Vault } from '../../vault/vault.ts';

/** A rotation at work: `former` and `next` are the vaults of one key each. */
export type Remaking = {
  readonly db: Database;
  readonly former: Vault;
  readonly next: Vault;
  /** Called with every part that was gone through. It may throw to stop the rotation. */
  readonly progress: (table: string, rows: number) => void;
};

/** What one round through everything did. */
export type Round = {
  /** Values made anew. */
  remade: number;
  /** Values of the former key that were in use by another transaction. */
  left: number;
  /** What matches neither key. It is left as it is, so it matches no key afterwards. */
  readonly forged: string[];
};

export const remakePageRows = 500;

/** A forged value has no place under the next key. */
export const forged = Symbol('forged');

/** An encrypted value under the next key. The same bytes if it has that key already. */
export const resealed = (
  { former, next }: Pick<Remaking, 'former' | 'next'>,
  sealed: Buffer,
  context: readonly string[],
): Buffer | typeof forged => {
  for (const vault of [next, former]) {
    try {
      const plaintext = vault.open(sealed, context);
      return vault === next ? sealed : next.seal(plaintext, context);
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
    }
  }
  return forged;
};
