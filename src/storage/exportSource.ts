import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../core/errorCode.ts';
import type { Log } from '../core/log.ts';
import type { Database, Queryable, Row } from './database.ts';

/** How long an export waits for the standby to have its own row. */
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
const hasEnd = async (standby: Queryable, accountId: string, { sequence, hash }: End): Promise<boolean> => {
  const [row] = await standby.query<Row & { hasRow: boolean }>(hasRowStatement, [accountId, sequence, hash]);
  return row!.hasRow;
};

const untilThere = async (standby: Queryable, accountId: string, end: End, signal: AbortSignal): Promise<boolean> => {
  while (!signal.aborted) {
    if (await hasEnd(standby, accountId, end)) return true;
    await pause(lookMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
};

class Behind extends Error {}

/** Chooses where an export of an account is read. */
export type ExportSource = {
  /** What asks the standby for as long as it has everything that the account has done so far, and then the primary. */
  open(accountId: string): Promise<Queryable>;
  /** For metrics; null without a standby. */
  readonly standby: Pick<Database, 'poolUse'> | null;
};

export const primaryOnly = (primary: Queryable): ExportSource => ({ open: async () => primary, standby: null });

export const createExportSource = ({
  standby,
  primary,
  log,
}: {
  standby: Database;
  primary: Queryable;
  log: Log;
}): ExportSource => ({
  standby,
  async open(accountId) {
    const [end] = await primary.query<Row & End>(endStatement, [accountId]);
    if (end === undefined) return primary;
    const isBehind = (): void => log.warn({ accountId }, 'the standby for exports is behind, so the primary is read');
    // Whatever the standby answers, the primary has the last word: a fault of the statement itself is thrown there again.
    const noteFault = (error: unknown): void =>
      log.warn({ accountId, code: codeOf(error), err: error }, 'the standby for exports fails, so the primary is read');
    const late = AbortSignal.timeout(patienceMs);
    const isLate = new Promise<false>(resolve => {
      late.addEventListener('abort', () => resolve(false), { once: true });
    });
    try {
      if (!(await Promise.race([untilThere(standby, accountId, end, late), isLate]))) {
        isBehind();
        return primary;
      }
    } catch (error) {
      noteFault(error);
      return primary;
    }
    let isLeft = false;
    return {
      async query<R extends Row>(...asked: Parameters<Queryable['query']>): Promise<R[]> {
        if (isLeft) return primary.query<R>(...asked);
        try {
          // On one connection: another one may lead to another server.
          return await standby.transaction(async tx => {
            if (!(await hasEnd(tx, accountId, end))) throw new Behind();
            return tx.query<R>(...asked);
          });
        } catch (error) {
          isLeft = true;
          if (error instanceof Behind) isBehind();
          else noteFault(error);
          return primary.query<R>(...asked);
        }
      },
    };
  },
});
