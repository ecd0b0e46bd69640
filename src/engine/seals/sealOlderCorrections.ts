import type { Log } from '../../core/log.ts';
import { readSealedRows, type SealedRow, writeSeal } from '../../storage/seals.ts';
import { countAlike, readCorrectionActs } from '../../storage/settlement/correctionHistory.ts';
import { auditSealOf } from '../audit/audit.ts';
import type { Context } from '../context.ts';
import { createSealKeeper, rowKeyOf } from './sealKeeper.ts';

const table = 'ledger_corrections';
const pageRows = 1_000;

type Parts = Pick<Context, 'db' | 'vault'> & { readonly log: Log };

/** Whether the audit log has an act for each correction that says this. */
const isInAuditLog = async ({ db, vault }: Parts, text: string): Promise<boolean> => {
  const acts = await readCorrectionActs(db, text);
  const genuine = acts.filter(act => vault.verifyAuditHash(auditSealOf(act), act.hash)).length;
  return genuine >= (await countAlike(db, text));
};

/**
 * Corrections from before they had seals, in a database whose other rows were sealed already. They are believed only as the
 * audit log has them, which nobody else can write: so this needs no mark, and may be done at each start.
 */
export const sealOlderCorrections = async (context: Parts): Promise<void> => {
  const { db, vault, log } = context;
  const keeper = createSealKeeper(vault, log);
  for (let after: string | null = null; ; ) {
    const rows: SealedRow[] = await readSealedRows(db, table, { after, limit: pageRows, all: false });
    for (const { text } of rows) {
      if (await isInAuditLog(context, text)) await writeSeal(db, keeper, table, text);
      else log.error({ forged: table, row: rowKeyOf(table, text) }, 'a correction is not in the audit log: no seal');
    }
    if (rows.length < pageRows) return;
    after = rows.at(-1)!.text;
  }
};
