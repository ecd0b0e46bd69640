import type { Backups } from '../../core/api/moneyApi.ts';
import { isOnlyAccount } from '../../storage/access/accounts.ts';
import type { Context } from '../context.ts';

/**
 * Times tell a merchant nothing that they could act on, and another's schedule is not theirs to know: where there are several
 * accounts, only the status is shown.
 */
export const readBackups = async ({
  backups,
  listDb,
}: Pick<Context, 'backups' | 'listDb'>): Promise<Backups | null> => {
  const schedule = await backups();
  if (schedule === null) return null;
  const { isScheduled, isInTime, lastAt, failingSince } = schedule;
  const status = !isScheduled ? 'not_scheduled' : isInTime && failingSince === null ? 'ok' : 'attention';
  if (await isOnlyAccount(listDb)) return { status, isOperators: true, lastAt, failingSince };
  return isScheduled ? { status, isOperators: false, lastAt: null, failingSince: null } : null;
};
