import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { compareAuditHeads, type RememberedHead } from '../engine/audit/auditHeads.ts';
import type { AuditLoss } from '../engine/chain/restoreGate.ts';
import { writeFileAtomically } from '../local/writeFileAtomically.ts';
import { startLoop } from '../workers/loop.ts';
import type { Config } from './config.ts';
import { forgetPeople, keepPersonRevisions } from './personRevisionsFile.ts';

const pathOf = (config: Pick<Config, 'dataDir'>): string => join(config.dataDir, 'audit-heads.json');

const isHead = (value: unknown): value is RememberedHead => {
  const { accountId, sequence, hash, content = '', gateAt = '' } = (value ?? {}) as Record<string, unknown>;
  const isNamed = typeof accountId === 'string' && typeof sequence === 'string' && /^\d{1,18}$/.test(sequence);
  const isContent = content === '' || /^[0-9a-f]{64}$/.test(String(content));
  return isNamed && isContent && typeof gateAt === 'string' && typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash);
};

const readHeads = async (path: string): Promise<RememberedHead[]> => {
  const text = await readFile(path, 'utf8').catch(error => {
    if (hasCode(error, 'ENOENT')) return '[]';
    throw error;
  });
  const unreadable = new FlorinError(
    'conflict',
    `${path} was changed or damaged. Find the cause, then delete the file.`,
  );
  try {
    const heads: unknown = JSON.parse(text);
    if (Array.isArray(heads) && heads.every(isHead)) return heads;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw unreadable;
};

/** When the gate of restores was moved last, as far as the data directory knows; empty if it does not. */
export const rememberedGateAt = async (config: Pick<Config, 'dataDir'>): Promise<string> => {
  const heads = await readHeads(pathOf(config));
  return heads.reduce((latest, { gateAt = '' }) => (gateAt > latest ? gateAt : latest), '');
};

/** `isRestored`: a restore was declared since the look before. */
export type AuditLook = { readonly loss: AuditLoss; readonly isRestored: boolean };

/**
 * Stores the last row of each audit log in the data directory, and returns which stored rows are missing now, and whether
 * any was stored. The database alone cannot show that rows were deleted from the end of a log. After a restore that was
 * declared, this process forgets how far rows had come.
 */
export const keepAuditHeads = async (
  config: Config,
  admin: Pick<AdminContext, 'db' | 'vault' | 'floors'>,
): Promise<{ readonly problems: string[]; readonly isCompared: boolean } & AuditLook> => {
  const path = pathOf(config);
  const remembered = await readHeads(path);
  const { problems, heads, loss, isRestored } = await compareAuditHeads(admin, remembered);
  if (isRestored) {
    admin.floors.forget();
    await forgetPeople(config);
  }
  await writeFileAtomically(path, `${JSON.stringify(heads)}\n`, 0o600);
  return { problems, loss, isRestored, isCompared: remembered.length > 0 };
};

/** The server keeps running, with production of these accounts closed. Null if the logs could not be compared. */
export const noticeAuditLoss = async (
  config: Config,
  admin: Pick<AdminContext, 'db' | 'vault' | 'floors'>,
  log: Log,
): Promise<AuditLook | null> => {
  let look: AuditLook | null = null;
  try {
    const kept = await keepAuditHeads(config, admin);
    const { problems } = kept;
    look = kept;
    if (problems.length > 0) log.error({ forged: 'audit_log', problems }, 'rows of the audit log are missing');
    const people = await keepPersonRevisions(config, admin);
    if (people.problems.length > 0)
      log.error({ forged: 'people', problems: people.problems }, 'people are as they were before');
  } catch (error) {
    log.error({ err: error }, 'the audit logs could not be checked for missing rows');
  }
  return look;
};

/** What is cut off within this time, of rows that were added within it, is seen only where they were announced. */
const keepIntervalMs = 60_000;

export type AuditHeads = {
  /** What was missing when it was looked last. */
  readonly loss: () => AuditLoss;
  stop(): Promise<void>;
};

/** Checks at once, regularly, and at the stop. */
export const openAuditHeads = async (
  config: Config,
  admin: Pick<AdminContext, 'db' | 'vault' | 'floors'>,
  log: Log,
  intervalMs = keepIntervalMs,
  told: (look: AuditLook) => void = () => {},
): Promise<AuditHeads> => {
  let loss: AuditLoss = { gateAt: '', accounts: new Set() };
  const look = async (): Promise<void> => {
    const found = await noticeAuditLoss(config, admin, log);
    if (found === null) return;
    ({ loss } = found);
    told(found);
  };
  await look();
  const loop = startLoop({
    name: 'audit heads',
    intervalMs,
    log,
    async work() {
      await look();
      return false;
    },
  });
  return {
    loss: () => loss,
    async stop() {
      await loop.stop();
      await look();
    },
  };
};
