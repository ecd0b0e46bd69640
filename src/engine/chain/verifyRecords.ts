import {
  type AuditEnd,
  type AuditLogRow,
  chainStart,
  readAuditChain,
  readAuditHeads,
} from '../../storage/audit/auditLog.ts';
import { readCorrectionFaults } from '../../storage/settlement/correctionHistory.ts';
import { readHistoryFaults, readSealedWallets, type SealedWallet } from '../../storage/wallets/walletSeals.ts';
import type { AdminContext } from '../access/accounts.ts';
import { auditSealOf } from '../audit/audit.ts';
import { isSealed } from '../wallets/walletSeal.ts';

const pageRows = 1_000;
const maxFaults = 100;

type Parts = Pick<AdminContext, 'db' | 'vault'>;

/** Why the next row of the log is wrong; null if it is right. */
const faultOf = ({ vault }: Parts, row: AuditLogRow, sequence: bigint, previousHash: Buffer): string | null => {
  if (BigInt(row.sequence) !== sequence) return `row ${sequence} is missing`;
  const isNext = row.previousHash.equals(previousHash);
  return isNext && vault.verifyAuditHash(auditSealOf(row), row.hash) ? null : `row ${sequence} was changed`;
};

/** The first fault of an account's log, or its number of valid rows. */
const verifyChain = async (context: Parts, head: AuditEnd): Promise<{ fault: string } | { rows: number }> => {
  let sequence = 0n;
  let hash: Buffer = chainStart;
  for (;;) {
    const rows = await readAuditChain(context.db, head.accountId, String(sequence), pageRows);
    for (const row of rows) {
      const fault = faultOf(context, row, sequence + 1n, hash);
      if (fault !== null) return { fault };
      sequence += 1n;
      hash = row.hash;
    }
    if (rows.length < pageRows) break;
  }
  if (sequence < BigInt(head.sequence)) return { fault: `row ${sequence + 1n} is missing` };
  // Rows may be added between the two reads, so the log may end after the head that was read first.
  const isEnd = sequence > BigInt(head.sequence) || (head.hash ?? chainStart).equals(hash);
  return isEnd ? { rows: Number(sequence) } : { fault: `row ${sequence} is not the one that was written last` };
};

export type Verified = { readonly checked: number; readonly problems: string[] };

/** Verifies every account's audit log, row by row. */
export const verifyAuditLogs = async (context: Parts): Promise<Verified> => {
  const problems: string[] = [];
  let checked = 0;
  for (let after = ''; ; ) {
    const heads = await readAuditHeads(context.db, after, pageRows);
    for (const head of heads) {
      const outcome = await verifyChain(context, head);
      if ('fault' in outcome) problems.push(`audit log of ${head.accountId}: ${outcome.fault}`);
      else checked += outcome.rows;
    }
    if (heads.length < pageRows) return { checked, problems };
    after = heads.at(-1)!.accountId;
  }
};

/** Verifies every wallet version: changing one in the database redirects other people's money. */
export const verifyWallets = async (context: Parts): Promise<Verified> => {
  const problems: string[] = [];
  let checked = 0;
  for (let last: SealedWallet | null = null; ; ) {
    const wallets: SealedWallet[] = await readSealedWallets(context.db, last, pageRows);
    for (const wallet of wallets) {
      const { accountId, environment, network, version } = wallet;
      if (isSealed(context.vault, wallet, wallet)) checked += 1;
      else problems.push(`wallet ${network} (${environment}, version ${version}) of ${accountId} was changed`);
    }
    if (wallets.length < pageRows) return { checked, problems };
    last = wallets.at(-1)!;
  }
};

/**
 * A seal cannot show that a row was deleted: without its stop, a change takes effect, and without the latest wallet,
 * the previous one does. The audit log has an entry for each.
 */
export const verifyWalletHistory = async (context: Parts): Promise<string[]> => {
  const faults = await readHistoryFaults(context.db, maxFaults);
  return faults.map(({ accountId, environment, network, version, stopped, fault }) => {
    const what = `${stopped ? 'the stop of ' : ''}wallet ${network} (${environment}, version ${version}) of ${accountId}`;
    return `${what} ${fault === 'gone' ? 'was removed' : 'is not in the audit log'}`;
  });
};

/**
 * The ledger's corrections and the acts of the audit log must be the same ones. Without a correction, coin that the operator
 * has explained would be found by balance and credited.
 */
export const verifyCorrections = async ({ db }: Pick<Parts, 'db'>): Promise<string[]> => {
  const faults = await readCorrectionFaults(db, maxFaults);
  return faults.map(({ accountId, environment, paymentId, fault }) => {
    const what = `a ledger correction of ${paymentId} (${environment}) of ${accountId}`;
    return `${what} ${fault === 'gone' ? 'was removed' : 'is not in the audit log'}`;
  });
};
