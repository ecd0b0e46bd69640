import { type Branch, continueLine, isLost, lineAfter } from '../../core/payment/branches.ts';
import { ForgedBlock, type StoredBlock } from '../../storage/chain/blockSeals.ts';
import { openBranch, readBranches, type SealedBranch } from '../../storage/chain/branches.ts';
import type { ChainRow, Lease } from '../../storage/chain/chains.ts';
import type { Queryable } from '../../storage/database.ts';
import { isSealedAs } from '../../storage/largeSeals.ts';
import type { Context } from '../context.ts';

type BranchText = {
  readonly caip2: string;
  readonly number: number;
  readonly previous?: number;
  readonly above: number;
  readonly orphans?: readonly string[];
};

const branchOf = (
  { vault }: Pick<Context, 'vault'>,
  caip2: string,
  [table, text, seal]: SealedBranch,
): Branch | null => {
  const { caip2: of, previous = null, orphans = [], ...branch } = JSON.parse(text) as BranchText;
  return of === caip2 && isSealedAs(vault, table, [text], seal) ? { ...branch, previous, orphans } : null;
};

/** Branches as Florin wrote them; null if somebody changed one. */
export const genuineBranches = (
  context: Pick<Context, 'vault'>,
  caip2: string,
  rows: readonly SealedBranch[],
): readonly Branch[] | null => {
  const branches = rows.flatMap(row => branchOf(context, caip2, row) ?? []);
  return branches.length === rows.length ? branches : null;
};

/** Throws if the block, which the database calls canonical, was orphaned: somebody put it back. */
export const assertNotLost = async (
  context: Pick<Context, 'vault'>,
  tx: Queryable,
  { caip2, branch: newest }: ChainRow,
  block: StoredBlock,
): Promise<void> => {
  const after = block.branch ?? 0;
  const branches = genuineBranches(context, caip2, await readBranches(tx, caip2, after));
  const line = branches && continueLine(lineAfter(after), branches);
  if (line?.newest !== (newest ?? 0) || isLost(block, line)) throw new ForgedBlock(caip2, block.number);
};

type Reached = { readonly number: number; readonly hash: string; readonly branch: number };

/** Where this process has brought the chains that it reads. */
const reached = new WeakMap<Lease, Reached>();

/** Call once a step is committed. */
export const noteReached = (lease: Lease, at: Reached): void => void reached.set(lease, at);

const continues = (lease: Lease, { latestNumber, latestHash, branch }: ChainRow): boolean => {
  const last = reached.get(lease);
  return last?.number === latestNumber && last.hash === latestHash && last.branch === branch;
};

/**
 * The branch of a step. A new one begins with a rollback, and where this process has not brought the chain itself: somebody
 * may have put its row back, so that it is read again without a rollback.
 */
export const branchOfStep = async (
  { clock }: Pick<Context, 'clock'>,
  tx: Queryable,
  lease: Lease,
  chain: ChainRow,
  rollbackTo: number | null,
): Promise<number> => {
  const { caip2, branch: previous, latestNumber } = chain;
  if (rollbackTo === null && previous !== null && continues(lease, chain)) return previous;
  const above = rollbackTo ?? latestNumber ?? -1;
  return openBranch(tx, { caip2, previous, above, nowMs: clock.nowMs() });
};
