import { createHash } from 'node:crypto';
import { type AuditEnd, type AuditLogRow, readAuditHeads, readAuditRows } from '../../storage/audit/auditLog.ts';
import type { Vault } from '../../vault/vault.ts';
import { type AuditLoss, readGate } from '../chain/restoreGate.ts';
import type { Context } from '../context.ts';

const pageRows = 1_000;

/** The last row of an account's audit log at the previous check, remembered outside the database. */
export type RememberedHead = {
  readonly accountId: string;
  readonly sequence: string;
  readonly hash: string;
  /** A hash of what the row says. Unlike the other, it outlives the master key. Files of older versions lack it. */
  readonly content?: string;
  /** When the gate of restores was opened or closed last, at that time. Files of older versions lack it. */
  readonly gateAt?: string;
};

const contentOf = (row: AuditLogRow): string => {
  const { previousHash: _, hash: __, register, ...said } = row;
  return createHash('sha256')
    .update(JSON.stringify([...Object.entries(said).sort(), register?.toString('hex')]))
    .digest('hex');
};

const headOf = (
  { accountId, sequence, hash }: AuditEnd,
  row: AuditLogRow | undefined,
  gateAt: string,
): RememberedHead[] =>
  hash === null
    ? []
    : [{ accountId, sequence, hash: hash.toString('hex'), ...(row ? { content: contentOf(row) } : {}), gateAt }];

const isSameRow = (old: RememberedHead, row: AuditLogRow | undefined): boolean => {
  if (row === undefined) return false;
  return old.content === undefined ? row.hash.toString('hex') === old.hash : contentOf(row) === old.content;
};

/** Why the log does not contain the remembered row; null if it does. */
const faultOf = (old: RememberedHead, head: AuditEnd, row: AuditLogRow | undefined): string | null => {
  const { accountId, sequence } = old;
  if (BigInt(head.sequence) < BigInt(sequence)) {
    return `audit log of ${accountId}: it ends at row ${head.sequence}, and had ${sequence} rows before`;
  }
  if (sequence === '0' || isSameRow(old, row)) return null;
  return `audit log of ${accountId}: row ${sequence} is not the one that was there before`;
};

/** Whether Florin wrote the end of the log. One that was forged must not be remembered. */
const isGenuine = (vault: Vault, { accountId, sequence, hash, seal, registerDigest }: AuditEnd): boolean =>
  hash === null ||
  (seal !== null &&
    registerDigest !== null &&
    vault.isRowSeal('audit_heads', [accountId, sequence, hash.toString('hex'), registerDigest.toString('hex')], seal));

/**
 * Compares the logs with the remembered heads. Returns the problems, the accounts that have them, and the heads to
 * remember next. A log with a problem, or with an end that does not match its seal, keeps its old head. What a restore
 * that was declared since has taken is no problem. `isRestored`: one was declared since what is remembered.
 */
export const compareAuditHeads = async (
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  remembered: readonly RememberedHead[],
): Promise<{ problems: string[]; heads: RememberedHead[]; loss: AuditLoss; isRestored: boolean }> => {
  const gate = await readGate({ db, vault });
  const seenAt = remembered.reduce((latest, { gateAt = '' }) => (gateAt > latest ? gateAt : latest), '');
  const gateAt = gate.at > seenAt ? gate.at : seenAt;
  const isDeclared = (old: RememberedHead): boolean =>
    old.gateAt !== undefined && gate.state === 'open' && gate.at > old.gateAt;
  // Without a time, no restore that is declared later would be known to be later.
  const keep = (old: RememberedHead): RememberedHead => ({ ...old, gateAt: old.gateAt ?? gateAt });
  const unseen = new Map(remembered.map(head => [head.accountId, head]));
  const accounts = new Set<string>();
  const problems: string[] = [];
  const heads: RememberedHead[] = [];
  for (let after = ''; ; ) {
    const page = await readAuditHeads(db, after, pageRows);
    const rememberedOnPage = page.flatMap(({ accountId }) => unseen.get(accountId) ?? []);
    const found = await readAuditRows(db, [...rememberedOnPage, ...page]);
    const rows = new Map(found.map(row => [`${row.accountId} ${row.sequence}`, row]));
    const rowOf = ({ accountId, sequence }: { accountId: string; sequence: string }) =>
      rows.get(`${accountId} ${sequence}`);
    for (const head of page) {
      const old = unseen.get(head.accountId);
      unseen.delete(head.accountId);
      const fault = old && !isDeclared(old) ? faultOf(old, head, rowOf(old)) : null;
      if (fault !== null) {
        problems.push(fault);
        accounts.add(head.accountId);
      }
      if (fault === null && isGenuine(vault, head)) heads.push(...headOf(head, rowOf(head), gateAt));
      else if (old) heads.push(keep(old));
    }
    if (page.length < pageRows) break;
    after = page.at(-1)!.accountId;
  }
  for (const old of unseen.values()) {
    if (isDeclared(old)) continue;
    problems.push(`audit log of ${old.accountId}: it had ${old.sequence} rows before, and the account is gone`);
    heads.push(keep(old));
  }
  const isRestored = seenAt !== '' && gate.state === 'open' && gate.at > seenAt;
  return { problems, heads, loss: { gateAt, accounts }, isRestored };
};
