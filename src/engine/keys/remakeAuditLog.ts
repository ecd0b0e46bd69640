import { type AuditLogRow, chainStart, readAuditChain } from '../../storage/audit/auditLog.ts';
import type { Queryable } from '../../storage/database.ts';
import { rewriteAuditHashes } from '../../storage/keys/remadeValues.ts';
import { auditSealOf } from '../audit/audit.ts';
import { type Remaking, remakePageRows } from './remaking.ts';

type Link = { readonly sequence: string; readonly previousHash: Buffer; readonly hash: Buffer };

/** The end of a chain as it was, and as it is under the next key. `last`: its newest row; null without rows. */
export type RemadeChain = {
  readonly last: Pick<AuditLogRow, 'sequence' | 'register'> | null;
  readonly was: Buffer;
  readonly hash: Buffer;
  readonly rows: number;
  readonly remade: number;
  readonly isFirstRemade: boolean;
  readonly forged: readonly string[];
};

/**
 * A row after a row whose hash was `was` and is `now`. A row that does not verify stays as it is, and the link to a row that
 * is not the one before stays broken: neither becomes genuine.
 */
const linkOf = ({ former, next }: Remaking, row: AuditLogRow, was: Buffer, now: Buffer): Link | 'forged' => {
  const fields = auditSealOf(row);
  const previousHash = row.previousHash.equals(was) ? now : row.previousHash;
  const hash = next.auditHash({ ...fields, previousHash });
  if (hash.equals(row.hash)) return { sequence: row.sequence, previousHash, hash };
  const isGenuine = former.verifyAuditHash(fields, row.hash) || next.verifyAuditHash(fields, row.hash);
  return isGenuine ? { sequence: row.sequence, previousHash, hash } : 'forged';
};

/** Goes through an account's audit log. `write`: whether the hashes are written, in the transaction `tx`. */
export const remakeChain = async (
  remaking: Remaking,
  tx: Queryable,
  accountId: string,
  write: boolean,
): Promise<RemadeChain> => {
  let [was, hash]: [Buffer, Buffer] = [chainStart, chainStart];
  let [rows, remade, isFirstRemade, after] = [0, 0, false, '0'];
  const forged: string[] = [];
  let last: AuditLogRow | null = null;
  for (;;) {
    const page: AuditLogRow[] = await readAuditChain(tx, accountId, after, remakePageRows);
    const links: Link[] = [];
    for (const row of page) {
      const link = linkOf(remaking, row, was, hash);
      was = row.hash;
      hash = link === 'forged' ? row.hash : link.hash;
      if (link === 'forged') forged.push(`audit_log ${accountId} ${row.sequence}`);
      else if (!link.hash.equals(row.hash)) links.push(link);
    }
    if (write) await rewriteAuditHashes(tx, accountId, links);
    isFirstRemade ||= rows === 0 && links[0]?.sequence === page[0]?.sequence && links.length > 0;
    rows += page.length;
    remade += links.length;
    last = page.at(-1) ?? last;
    if (page.length < remakePageRows) return { last, was, hash, rows, remade, isFirstRemade, forged };
    after = last!.sequence;
  }
};
