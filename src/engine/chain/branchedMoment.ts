import { type Branch, type BranchLine, continueLine, lineAfter } from '../../core/payment/branches.ts';
import { type ChainMoment, type Moment, readMoment } from '../../storage/chain/chains.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Context } from '../context.ts';
import { genuineBranches } from './branches.ts';

type Parts = Pick<Context, 'vault'>;
type BranchLines = ReadonlyMap<string, BranchLine>;

/** `line`: its branches. Null if they were not asked for, or if somebody changed, added or removed one. */
export type BranchedChain = ChainMoment & { readonly line: BranchLine | null };
export type BranchedMoment = Omit<Moment, 'chains'> & { readonly chains: ReadonlyMap<string, BranchedChain> };

/**
 * The branches of chains that this process has checked. A branch is never changed or removed, so only later ones are read:
 * otherwise one transfer to an old address would have all of them read and checked for each decision.
 */
const remembered = new WeakMap<Context['vault'], Map<string, BranchLine>>();
/** What a transaction wrote may be rolled back. None takes so long. */
const rememberedAfterMs = 60_000;
/** Per chain. What is beyond is read each time. */
const maxRemembered = 50_000;

const none = lineAfter(0);
/** Nothing follows it. */
const unread = lineAfter(Number.MAX_SAFE_INTEGER);

const rememberedLine = ({ vault }: Parts, caip2: string): BranchLine => remembered.get(vault)?.get(caip2) ?? none;

const remember = ({ vault }: Parts, caip2: string, line: BranchLine): void => {
  const lines = remembered.get(vault) ?? new Map<string, BranchLine>();
  remembered.set(vault, lines.set(caip2, line));
};

const lineOf = (
  parts: Parts,
  { caip2, branch, branches: rows }: ChainMoment & { readonly caip2: string },
  after: BranchLine,
  nowMs: number,
): BranchLine | null => {
  const branches = genuineBranches(parts, caip2, rows);
  const line = branches && continueLine(after, branches);
  if (line?.newest !== (branch ?? 0)) return null;
  const isOld = ({ number }: Branch): boolean => number <= nowMs - rememberedAfterMs;
  const old = branches!.filter(isOld).slice(0, maxRemembered - after.lows.length);
  if (old.length > 0) remember(parts, caip2, continueLine(after, old)!);
  return line;
};

const readAfter = async (parts: Parts, tx: Queryable, lines: BranchLines): Promise<BranchedMoment> => {
  const after = new Map([...lines].map(([caip2, { newest }]) => [caip2, newest]));
  const { now, chains } = await readMoment(tx, after);
  const branched = [...chains].map(([caip2, chain]): [string, BranchedChain] => [
    caip2,
    { ...chain, line: lineOf(parts, { ...chain, caip2 }, lines.get(caip2)!, now.getTime()) },
  ]);
  return { now, chains: new Map(branched) };
};

/** The database's time, and how far these chains are read. `credited` says whether their branches are asked for. */
export const readBranchedMoment = async (
  parts: Parts,
  tx: Queryable,
  credited: ReadonlyMap<string, boolean>,
): Promise<BranchedMoment> => {
  const lines = new Map([...credited].map(([caip2, is]) => [caip2, is ? rememberedLine(parts, caip2) : unread]));
  const moment = await readAfter(parts, tx, lines);
  // A failover may have lost branches that this process knows, or somebody removed them: then only the database counts.
  const others = [...lines].filter(
    ([caip2, line]) => line !== unread && line !== none && moment.chains.get(caip2)?.line === null,
  );
  if (others.length === 0) return moment;
  return readAfter(parts, tx, new Map([...lines, ...others.map(([caip2]): [string, BranchLine] => [caip2, none])]));
};
