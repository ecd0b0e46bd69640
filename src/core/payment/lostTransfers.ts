/** What a step of a chain changed for payments. */
export type ChainChange = {
  /** Keys of the transfers that it orphaned, by payment. */
  readonly gone: ReadonlyMap<string, readonly string[]>;
  /** Hashes of the blocks that nodes showed to be on the chain. */
  readonly shown: ReadonlySet<string>;
};

export const noChange: ChainChange = { gone: new Map(), shown: new Set() };

type Placed = {
  readonly key: string;
  readonly blockHash: string;
  readonly stray: boolean;
  readonly canonical: boolean;
};

const keysOf = (lost: string | null): string[] => lost?.split(' ') ?? [];

/**
 * The keys of transfers that a payment has lost, after a step of the chain: those from before, and those that the step
 * orphaned, without those in blocks that the step showed.
 */
export const lostAfter = (
  before: string | null,
  transfers: readonly Placed[],
  { gone, shown }: { readonly gone: readonly string[]; readonly shown: ReadonlySet<string> },
): string | null => {
  if (before === null && gone.length === 0) return null;
  const back = new Set(
    transfers.filter(({ canonical, blockHash }) => canonical && shown.has(blockHash)).map(({ key }) => key),
  );
  const lost = [...new Set([...keysOf(before), ...gone])].filter(key => !back.has(key));
  return lost.length === 0 ? null : lost.sort().join(' ');
};

/** Transfers that count although the payment has lost them: no step of the chain brought them back. */
export const broughtBack = <T extends Placed>(lost: string | null, transfers: readonly T[]): T[] => {
  if (lost === null) return [];
  const keys = new Set(keysOf(lost));
  return transfers.filter(({ key, stray, canonical }) => !stray && canonical && keys.has(key));
};
