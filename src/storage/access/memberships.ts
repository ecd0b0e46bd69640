import type { Role } from '../../core/access/rights.ts';
import type { Queryable, Row } from '../database.ts';
import { type PersonRow, personColumns } from './people.ts';

/** A person as a member of one account. */
export type MemberRow = PersonRow & { accountId: string; role: Role; joinedAt: Date; lastSeenAt: Date | null };

const memberColumns = `m.account_id as "accountId", m.role, m.created_at as "joinedAt", m.last_seen_at as "lastSeenAt",
  ${personColumns}`;
/** `m` and `p`: a membership that was not removed, and its person. */
const liveMembers = `memberships m join people p on p.id = m.person_id and m.removed_at is null and p.removed_at is null`;

const putStatement = {
  name: 'membership-put',
  text: `insert into memberships (account_id, person_id, role, owner_since)
    values ($1, $2, $3::person_role, case when $3::person_role = 'owner' then clock_timestamp() end)
    on conflict (account_id, person_id) do update
      set role = excluded.role, owner_since = excluded.owner_since, created_at = clock_timestamp(),
        last_seen_at = null, removed_at = null
      where memberships.removed_at is not null
    returning person_id`,
};
/** Adds a member, or takes a former one back. False if the person is a member already. */
export const putMembership = async (tx: Queryable, accountId: string, personId: string, role: Role): Promise<boolean> =>
  (await tx.query(putStatement, [accountId, personId, role])).length > 0;

const readStatement = {
  name: 'membership-read',
  text: `select ${memberColumns} from ${liveMembers} where m.account_id = $1 and m.person_id = $2`,
};
export const readMember = async (db: Queryable, accountId: string, personId: string): Promise<MemberRow | null> =>
  (await db.query<MemberRow>(readStatement, [accountId, personId]))[0] ?? null;

const lockStatement = { name: 'membership-lock', text: `${readStatement.text} for update of m` };
export const lockMember = async (tx: Queryable, accountId: string, personId: string): Promise<MemberRow | null> =>
  (await tx.query<MemberRow>(lockStatement, [accountId, personId]))[0] ?? null;

const shareStatement = {
  name: 'membership-share',
  text: `select m.role from ${liveMembers} where m.account_id = $1 and m.person_id = $2 for share of m`,
};
/** The role, which nobody can change until the transaction ends. Null if the person is not a member. */
export const shareRole = async (tx: Queryable, accountId: string, personId: string): Promise<Role | null> =>
  (await tx.query<{ role: Role }>(shareStatement, [accountId, personId]))[0]?.role ?? null;

const listStatement = {
  name: 'membership-list',
  text: `select ${memberColumns} from ${liveMembers} where m.account_id = $1 order by m.created_at, p.id limit 1000`,
};
export const listMembers = (db: Queryable, accountId: string): Promise<MemberRow[]> =>
  db.query<MemberRow>(listStatement, [accountId]);

const ownersStatement = {
  name: 'membership-lock-owners',
  text: `select p.id from ${liveMembers} where m.account_id = $1 and m.role = 'owner' order by p.id for update of m`,
};
/** Locked, so that two owners cannot take the role from each other at the same time. */
export const lockOwners = async (tx: Queryable, accountId: string): Promise<string[]> =>
  (await tx.query<{ id: string }>(ownersStatement, [accountId])).map(row => row.id);

const anyOwnerStatement = {
  name: 'membership-any-owner',
  text: `select exists (select from ${liveMembers} where m.role = 'owner'
    and ($1::text is null or m.account_id = $1)) as found`,
};
/** Whether this account has an owner or, with null, whether any account has one. */
export const hasOwner = async (db: Queryable, accountId: string | null): Promise<boolean> =>
  (await db.query<{ found: boolean }>(anyOwnerStatement, [accountId]))[0]!.found;

const roleStatement = {
  name: 'membership-role',
  text: `update memberships set role = $3::person_role, owner_since = case when $3::person_role = 'owner' then clock_timestamp() end
    where account_id = $1 and person_id = $2`,
};
export const updateRole = async (tx: Queryable, accountId: string, personId: string, role: Role): Promise<void> => {
  await tx.query(roleStatement, [accountId, personId, role]);
};

const removeStatement = {
  name: 'membership-remove',
  text: `update memberships set removed_at = clock_timestamp() where account_id = $1 and person_id = $2`,
};
/** Removes the person from the account. What they sign in with stays theirs. */
export const removeMembership = async (tx: Queryable, accountId: string, personId: string): Promise<void> => {
  await tx.query(removeStatement, [accountId, personId]);
};

export type OwnAccount = Row & { id: string; name: string; role: Role };

const accountsStatement = {
  name: 'membership-accounts',
  text: `select a.id, a.name, m.role from memberships m join accounts a on a.id = m.account_id
    where m.person_id = $1 and m.removed_at is null order by m.last_seen_at desc nulls last, m.created_at, a.id limit 1000`,
};
/** The accounts that a person is a member of, the one they used last first. */
export const accountsOf = (db: Queryable, personId: string): Promise<OwnAccount[]> =>
  db.query<OwnAccount>(accountsStatement, [personId]);

const securedStatement = {
  name: 'membership-any-secured',
  text: `select exists (select from ${liveMembers} where m.account_id = $1 and (p.totp_secret is not null
    or exists (select from passkeys k where k.person_id = p.id))) as found`,
};
/** Whether anybody in the account has an authenticator app or a passkey. */
export const hasSecuredMember = async (db: Queryable, accountId: string): Promise<boolean> =>
  (await db.query<{ found: boolean }>(securedStatement, [accountId]))[0]!.found;
