import type { Context } from '../context.ts';
import { enqueue } from './outbox.ts';

/** What it takes to keep backups and to say that they failed. */
export type AlertingOfBackups = Pick<Context, 'db' | 'clock' | 'ids' | 'vault' | 'log'>;

/** Tells the operator that a backup failed, or that the log is not archived. It concerns no account, so the audit log has nothing of it. */
export const alertOfBackup = async (
  context: Pick<Context, 'db' | 'clock' | 'ids' | 'vault'>,
  at: Date,
  action: 'backup.failed' | 'log_archive.failed' = 'backup.failed',
): Promise<void> => {
  const { id: eventId } = context.ids.next('event', context.clock.nowMs());
  const actor = { kind: 'system', id: null } as const;
  const notice = { action, actor, subject: null, at: at.toISOString() };
  await context.db.transaction(tx =>
    enqueue(context, tx, [{ kind: 'alert', eventId, accountId: null, environment: null, notice }]),
  );
};
