import type { Scope } from '../../core/environment.ts';
import { FlorinError } from '../../core/errors.ts';
import { readAccount } from '../../storage/access/accounts.ts';
import { hasOwner } from '../../storage/access/memberships.ts';
import { closeReviews, readOpenReview } from '../../storage/chain/restoreReviews.ts';
import { type AdminContext, noSuchAccount } from '../access/accounts.ts';
import { operatorActing } from '../audit/acting.ts';
import type { Context } from '../context.ts';
import { type AccountWork, perform } from '../perform.ts';

/** A key that was revoked after the backup works again, so no key may change anything before somebody has looked. */
export const refuseInReview = async (
  { restoreState }: Pick<Context, 'restoreState'>,
  { accountId, environment }: Scope,
): Promise<void> => {
  if (environment === 'sandbox') return;
  const { gate, inReview, lost } = await restoreState();
  if (gate === 'production') {
    throw new FlorinError(
      'service_unavailable',
      'The database was restored. Reading works, but nothing in production can be created or changed. The operator continues with: florin restored',
    );
  }
  if (lost.has(accountId)) {
    throw new FlorinError(
      'service_unavailable',
      'Rows of the audit log of this account are missing. Reading works, but nothing in production can be created or changed. The operator runs florin doctor and, if the database was restored, florin restored.',
    );
  }
  if (!inReview.has(accountId)) return;
  throw new FlorinError(
    'service_unavailable',
    `This account was restored from a backup. Reading works, but nothing in production can be created or changed until an owner has reviewed the account in the dashboard. If it has no owner, the operator continues with: florin restored --review ${accountId}`,
  );
};

const nothingOpen = (): FlorinError => new FlorinError('conflict', 'No review after a restore is open.');

/** Opens production. `restoredAt` is the restore that the person has seen: a later one is to be reviewed by itself. */
export const reviewRestore =
  (restoredAt: Date): AccountWork<null> =>
  async (tx, { scope: { accountId }, actor }) => {
    const latest = await readOpenReview(tx, accountId);
    if (latest === null) throw nothingOpen();
    if (latest.getTime() !== restoredAt.getTime()) {
      throw new FlorinError('conflict', 'The account was restored again. Reload the page and review it again.');
    }
    if (!(await closeReviews(tx, accountId, { restoredAt, reviewedBy: actor.name }))) throw nothingOpen();
    const detail = { restoredAt: restoredAt.toISOString() };
    return { value: null, deed: { action: 'restore.reviewed', subject: null, detail } };
  };

/** The operator reviews an account that nobody else can open. */
export const reviewForNobody = async (admin: AdminContext, accountId: string): Promise<Date> => {
  if (!(await readAccount(admin.db, accountId))) throw noSuchAccount(accountId);
  return perform(admin, operatorActing({ accountId, environment: null }), null, async (tx, acting) => {
    if (await hasOwner(tx, accountId)) {
      throw new FlorinError(
        'conflict',
        `The account ${accountId} has an owner. An owner reviews it in the dashboard, on the page Review after a restore.`,
      );
    }
    const restoredAt = await readOpenReview(tx, accountId);
    if (restoredAt === null) throw nothingOpen();
    const { deed } = await reviewRestore(restoredAt)(tx, acting);
    return { value: restoredAt, deed };
  });
};
