import type { Queryable, Row } from '../database.ts';

type Reader = Row & { email: string; accountName: string };

const managersStatement = {
  name: 'mail-managers',
  text: `select p.email, a.name as "accountName"
    from (select person_id as id from memberships
        where account_id = $1 and removed_at is null and role in ('owner', 'admin')
      union select $2) reader
      join people p on p.id = reader.id and p.removed_at is null
      join accounts a on a.id = $1
    order by p.email limit 1000`,
};
/** The owners and admins of an account, and the person concerned: they may be a member no more. */
export const listManagers = (db: Queryable, accountId: string, concerned: string | null): Promise<Reader[]> =>
  db.query<Reader>(managersStatement, [accountId, concerned]);

const personStatement = {
  name: 'mail-person',
  text: `select p.email, a.name as "accountName" from people p join accounts a on a.id = $1
    where p.id = $2 and p.removed_at is null and a.id = (
      select min(m.account_id) from memberships m where m.person_id = p.id and m.removed_at is null)`,
};
/** A person, in one of their accounts only: what concerns their sign-in is in the log of each, and one mail is enough. */
export const listPersonOnce = (db: Queryable, accountId: string, personId: string | null): Promise<Reader[]> =>
  db.query<Reader>(personStatement, [accountId, personId]);
