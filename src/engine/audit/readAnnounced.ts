import { announcedActions, isAnnounced, ofOwners } from '../../core/announcements.ts';
import { auditActions } from '../../core/auditActions.ts';
import { type AuditLogRow, listRecentActions } from '../../storage/audit/auditLog.ts';
import type { Context } from '../context.ts';

const days = 7;
/** Of each action. */
const limit = 5;

const isShown = ({ action, environment, detail }: AuditLogRow): boolean => {
  const known = auditActions.find(each => each === action);
  return known !== undefined && isAnnounced({ action: known, environment, detail: JSON.parse(detail) });
};

/**
 * The announced acts of the last days that every page shows to a member, newest first. Acts in the sandbox are announced
 * to receivers and the operator only: they move no money.
 */
export const readAnnounced = async (
  context: Pick<Context, 'db'>,
  member: { readonly accountId: string; readonly personId: string },
): Promise<AuditLogRow[]> =>
  (await listRecentActions(context.db, member, { actions: announcedActions, ofOwners, days, limit })).filter(isShown);
