import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../core/log.ts';
import { type Database, isContention, isUnavailable, type Queryable, type Row } from './database.ts';

/** How long an export waits for the standby. Its reader sees the first line after that at the latest. */
const [patienceMs, lookMs] = [2_000, 50];

const endStatement = {
  name: 'export-audit-end',
  text: 'select sequence, hash from audit_heads where account_id = $1',
};
type End = { readonly sequence: string; readonly hash: Buffer };

const hasRowStatement = {
  name: 'export-audit-row',
  text: 'select exists (select from audit_log where account_id = $1 and sequence = $2 and hash = $3) as "hasRow"',
};

/**
 * Whether the standby has what the primary had when its end of the log was read. An export has written an audit row, so this
 * is everything from before the export. The hash depends on all earlier rows: the standby of a former primary has another.
 */
const isThere = async (standby: Queryable, accountId: string, { sequence, hash }: End): Promise<boolean> => {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const [row] = await standby.query<Row & { hasRow: boolean }>(hasRowStatement, [accountId, sequence, hash]);
    if (row!.hasRow) return true;
    if (performance.now() > untilMs) return false;
    await pause(lookMs);
  }
};

/** The standby ends queries that stand in the way of what it has to apply. */
const isStandbyFault = (error: unknown): boolean => isUnavailable(error) || isContention(error);

/** Asks the standby until it fails once, then the primary. */
const withFallback = (standby: Queryable, primary: Queryable, onFault: (error: unknown) => void): Queryable => {
  let isLeft = false;
  return {
    async query(statement, values) {
      if (!isLeft) {
        try {
          return await standby.query(statement, values);
        } catch (error) {
          if (!isStandbyFault(error)) throw error;
          isLeft = true;
          onFault(error);
        }
      }
      return primary.query(statement, values);
    },
  };
};

/** Chooses the database that an export of an account is read from. */
export type ExportSource = (accountId: string) => Promise<Queryable>;

/** The standby, if it has everything that the account has done so far. Otherwise the primary. */
export const createExportSource =
  ({ standby, primary, log }: { standby: Database; primary: Database; log: Log }): ExportSource =>
  async accountId => {
    const onFault = (error: unknown): void =>
      log.warn({ accountId, err: error }, 'the standby for exports does not answer, so the primary is read');
    const [end] = await primary.query<Row & End>(endStatement, [accountId]);
    if (end === undefined) return primary;
    try {
      if (await isThere(standby, accountId, end)) return withFallback(standby, primary, onFault);
      log.warn({ accountId, patienceMs }, 'the standby for exports is behind, so the primary is read');
    } catch (error) {
      if (!isStandbyFault(error)) throw error;
      onFault(error);
    }
    return primary;
  };
