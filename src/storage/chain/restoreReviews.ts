import type { Queryable, Row } from '../database.ts';
import { gateName } from '../deployment.ts';
import { sealedUpdate, toSeal } from '../seals.ts';

const openStatement = {
  name: 'restore-reviews-open',
  // One time for all rows: an owner reviews one restore, whatever the account.
  text: `insert into restore_reviews as t (account_id, requested_at)
    select a.id, statement_timestamp() from accounts a
      where exists (select from api_keys k where k.account_id = a.id and k.environment = 'production')
        or exists (select from wallets w where w.account_id = a.id and w.environment = 'production')
        or exists (select from webhook_endpoints e where e.account_id = a.id and e.environment = 'production')
    on conflict do nothing returning t.account_id as id, ${toSeal('restore_reviews', 't')}`,
};
/** Closes production of every account that has anything there. Returns their ids, sorted. */
export const openReviews = async (tx: Queryable): Promise<string[]> =>
  (await tx.query<Row & { id: string }>(openStatement)).map(({ id }) => id).sort();

const closeStatement = {
  name: 'restore-reviews-close',
  text: sealedUpdate('restore_reviews', {
    set: { reviewed_at: 'clock_timestamp()', reviewed_by: '$3' },
    where: 't.account_id = $1 and t.reviewed_at is null and t.requested_at <= $2',
  }),
};
/** Closes the reviews of an account up to that of this restore. False if none was open. */
export const closeReviews = async (
  tx: Queryable,
  accountId: string,
  { restoredAt, reviewedBy }: { readonly restoredAt: Date; readonly reviewedBy: string },
): Promise<boolean> => (await tx.query(closeStatement, [accountId, restoredAt, reviewedBy])).length > 0;

const readStatement = {
  name: 'restore-review-read',
  text: `select max(requested_at) as at from restore_reviews where account_id = $1 and reviewed_at is null`,
};
/** When the latest restore that waits for a review was declared; null if none does. */
export const readOpenReview = async (db: Queryable, accountId: string): Promise<Date | null> =>
  (await db.query<Row & { at: Date | null }>(readStatement, [accountId]))[0]!.at;

export type OpenReview = Row & { accountId: string; accountName: string; restoredAt: Date; hasOwner: boolean };
const listStatement = {
  name: 'restore-reviews-list',
  text: `select r.account_id as "accountId", a.name as "accountName", max(r.requested_at) as "restoredAt",
      exists (select from memberships m join people p on p.id = m.person_id
        where m.account_id = r.account_id and m.role = 'owner' and m.removed_at is null and p.removed_at is null) as "hasOwner"
    from restore_reviews r join accounts a on a.id = r.account_id
    where r.reviewed_at is null group by 1, 2 order by 3, 1 limit $1`,
};
/** The accounts whose production is closed, those that wait longest first. */
export const listOpenReviews = (db: Queryable, limit: number): Promise<OpenReview[]> =>
  db.query<OpenReview>(listStatement, [limit]);

const stateStatement = {
  name: 'restore-state',
  text: `select (select value from deployment where name = '${gateName}') as value,
    array(select distinct account_id from restore_reviews where reviewed_at is null) as "inReview"`,
};
/** The gate of restores as it is stored, and the accounts in review. */
export const readRestoreState = async (
  db: Queryable,
): Promise<{ readonly value: string | null; readonly inReview: ReadonlySet<string> }> => {
  const [row] = await db.query<Row & { value: string | null; inReview: string[] }>(stateStatement);
  return { value: row!.value, inReview: new Set(row!.inReview) };
};
