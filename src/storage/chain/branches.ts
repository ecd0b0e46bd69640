import type { Queryable, Row } from '../database.ts';
import { sealedJson, toSeal } from '../seals.ts';

/** What the row of a branch says, with its seal. */
export type SealedBranch = readonly [table: 'chain_branches', text: string, seal: string | null];

/** SQL for the branches of a chain after one, as JSON, oldest first. */
export const branchesText = (caip2: string, after: string): string =>
  `(select coalesce(json_agg(${sealedJson('chain_branches', 'g')} order by g.number), '[]') from chain_branches g
    where g.caip2 = ${caip2} and g.number > ${after})`;

const readBranchesStatement = {
  name: 'chain-branches-read',
  text: `select ${branchesText('$1', '$2')} as branches`,
};
/** The branches of a chain after one. They are not checked. */
export const readBranches = async (db: Queryable, caip2: string, after: number): Promise<readonly SealedBranch[]> =>
  (await db.query<Row & { branches: SealedBranch[] }>(readBranchesStatement, [caip2, after]))[0]!.branches;

const branchFaultsStatement = {
  name: 'chain-branch-faults',
  text: `select c.caip2 from chains c
      where c.branch is distinct from (select max(g.number) from chain_branches g where g.caip2 = c.caip2)
    union
    select g.caip2 from chain_branches g where g.previous is not null and not exists (
      select from chain_branches p where p.caip2 = g.caip2 and p.number = g.previous)
    union
    select g.caip2 from chain_branches g where not exists (select from chains c where c.caip2 = g.caip2)
    order by caip2`,
};
/** Chains that lack branches, or whose rows are gone or earlier ones. */
export const branchFaults = async (db: Queryable): Promise<string[]> =>
  (await db.query<Row & { caip2: string }>(branchFaultsStatement)).map(({ caip2 }) => caip2);

// Before there were branches, blocks said alone which of them were orphaned. Here that is believed once.
const openBranchStatement = {
  name: 'chain-branch-open',
  text: `insert into chain_branches as t (caip2, number, previous, above, orphans)
    values ($1, greatest(coalesce($2::bigint, 0) + 1, $3::bigint), $2, $4, case when $2 is null then (
      select array_agg(b.hash) from blocks b where b.caip2 = $1 and not b.canonical and (exists (
        select from transfers r where r.caip2 = b.caip2 and r.block_number = b.number and r.block_hash = b.hash
      ) or exists (
        select from forwards f where f.caip2 = b.caip2 and f.block_number = b.number and f.block_hash = b.hash))
    ) end)
    returning t.number::float8 as number, ${toSeal('chain_branches', 't')}`,
};
/** Begins a branch after another one: blocks above a height are read anew. Returns its number. */
export const openBranch = async (
  tx: Queryable,
  branch: { readonly caip2: string; readonly previous: number | null; readonly above: number; readonly nowMs: number },
): Promise<number> => {
  const values = [branch.caip2, branch.previous, branch.nowMs, branch.above];
  return (await tx.query<Row & { number: number }>(openBranchStatement, values))[0]!.number;
};
