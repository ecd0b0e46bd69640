import type { Queryable, Row } from '../database.ts';
import { sealsOf } from '../seals.ts';

type Reader = Row & { email: string; accountName: string };

const managersStatement = {
  name: 'mail-managers',
  text: `select p.email, a.name as "accountName", ${sealsOf({ m: 'memberships', p: 'people', a: 'accounts' })}
    from memberships m join people p on p.id = m.person_id and p.removed_at is null join accounts a on a.id = m.account_id
    where m.account_id = $1 and m.removed_at is null and m.role in ('owner', 'admin')
    union all
    select p.email, a.name, ${sealsOf({ p: 'people', a: 'accounts' })}
    from people p join accounts a on a.id = $1 where p.id = $2 and p.removed_at is null
    order by email limit 1000`,
};
/** The owners and admins of an account, and the person concerned: they may be a member no more. */
export const listManagers = async (db: Queryable, accountId: string, concerned: string | null): Promise<Reader[]> => {
  const rows = await db.query<Reader>(managersStatement, [accountId, concerned]);
  return rows.filter(({ email }, index) => email !== rows[index - 1]?.email);
};

const personStatement = {
  name: 'mail-person',
  text: `select p.email, a.name as "accountName", a.id as "accountId",
      ${sealsOf({ p: 'people', m: 'memberships', a: 'accounts' })}
    from people p join memberships m on m.person_id = p.id and m.removed_at is null join accounts a on a.id = m.account_id
    where p.id = $1 and p.removed_at is null order by a.id limit 1000`,
};
/** A person, in one of their accounts only: what concerns their sign-in is in the log of each, and one mail is enough. */
export const listPersonOnce = async (db: Queryable, accountId: string, personId: string | null): Promise<Reader[]> => {
  const [first] = await db.query<Reader & { accountId: string }>(personStatement, [personId]);
  return first?.accountId === accountId ? [first] : [];
};
