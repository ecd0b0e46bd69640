import { type AuditEnd, readAuditHashes, readAuditHeads } from '../../storage/audit/auditLog.ts';
import type { Queryable } from '../../storage/database.ts';

const pageRows = 1_000;

/** The last row of an account's audit log at the previous check, remembered outside the database. */
export type RememberedHead = { readonly accountId: string; readonly sequence: string; readonly hash: string };

const headOf = ({ accountId, sequence, hash }: AuditEnd): RememberedHead[] =>
  hash === null ? [] : [{ accountId, sequence, hash: hash.toString('hex') }];

/** Why the log does not contain the remembered row; null if it does. */
const faultOf = (old: RememberedHead, head: AuditEnd, hash: string | undefined): string | null => {
  const { accountId, sequence } = old;
  if (BigInt(head.sequence) < BigInt(sequence)) {
    return `audit log of ${accountId}: it ends at row ${head.sequence}, and had ${sequence} rows before`;
  }
  if (sequence === '0' || hash === old.hash) return null;
  return `audit log of ${accountId}: row ${sequence} is not the one that was there before`;
};

/**
 * Compares the logs with the remembered heads. Returns the problems and the heads to remember next; a log with a
 * problem keeps its old head.
 */
export const compareAuditHeads = async (
  { db }: { readonly db: Queryable },
  remembered: readonly RememberedHead[],
): Promise<{ problems: string[]; heads: RememberedHead[] }> => {
  const unseen = new Map(remembered.map(head => [head.accountId, head]));
  const problems: string[] = [];
  const heads: RememberedHead[] = [];
  for (let after = ''; ; ) {
    const page = await readAuditHeads(db, after, pageRows);
    const rememberedOnPage = page.flatMap(({ accountId }) => unseen.get(accountId) ?? []);
    const rows = await readAuditHashes(db, rememberedOnPage);
    const hashes = new Map(rows.map(({ accountId, hash }) => [accountId, hash.toString('hex')]));
    for (const head of page) {
      const old = unseen.get(head.accountId);
      unseen.delete(head.accountId);
      const fault = old ? faultOf(old, head, hashes.get(head.accountId)) : null;
      if (fault !== null) problems.push(fault);
      heads.push(...(fault === null ? headOf(head) : [old!]));
    }
    if (page.length < pageRows) break;
    after = page.at(-1)!.accountId;
  }
  for (const old of unseen.values()) {
    problems.push(`audit log of ${old.accountId}: it had ${old.sequence} rows before, and the account is gone`);
    heads.push(old);
  }
  return { problems, heads };
};
