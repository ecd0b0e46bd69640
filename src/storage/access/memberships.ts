import { establishedDays } from '../../core/access/ownerGuard.ts';
import type { Role } from '../../core/access/rights.ts';
import type { Queryable, Row } from '../database.ts';
import { sealedUpdate, sealsOf, toSeal } from '../seals.ts';
import { hasSecondFactor, type PersonRow, personColumns } from './people.ts';

/** A person as a member of one account. */
export type MemberRow = PersonRow & { accountId: string; role: Role; joinedAt: Date; lastSeenAt: Date | null };

const memberColumns = `m.account_id as "accountId", m.role, m.created_at as "joinedAt", m.last_seen_at as "lastSeenAt",
  ${personColumns}`;
const ofMember = sealsOf({ m: 'memberships', p: 'people' });
/** `m` and `p`: a membership that was not removed, and its person. */
const liveMembers = `memberships m join people p on p.id = m.person_id and m.removed_at is null and p.removed_at is null`;

const putStatement = {
  name: 'membership-put',
  text: `with old as materialized (
      select ${sealsOf({ t: 'memberships' })} from memberships t where t.account_id = $1 and t.person_id = $2 for update
    )
    insert into memberships as t (account_id, person_id, role, owner_since)
    select $1, $2, $3::person_role, case when $3::person_role = 'owner' then clock_timestamp() end
    -- Reads the old row before it is changed.
    from (select count(*) from old) first
    on conflict (account_id, person_id) do update
      set role = excluded.role, owner_since = excluded.owner_since, created_at = clock_timestamp(),
        last_seen_at = null, removed_at = null
      where t.removed_at is not null
    returning t.person_id, (select seals from old) as seals,
      ${toSeal('memberships', 't', ['role', 'owner_since', 'created_at', 'removed_at'])}`,
};
/** Adds a member, or takes a former one back. False if the person is a member already. */
export const putMembership = async (tx: Queryable, accountId: string, personId: string, role: Role): Promise<boolean> =>
  (await tx.query(putStatement, [accountId, personId, role])).length > 0;

const readStatement = {
  name: 'membership-read',
  text: `select ${memberColumns}, ${ofMember} from ${liveMembers} where m.account_id = $1 and m.person_id = $2`,
};
export const readMember = async (db: Queryable, accountId: string, personId: string): Promise<MemberRow | null> =>
  (await db.query<MemberRow>(readStatement, [accountId, personId]))[0] ?? null;

const lockStatement = { name: 'membership-lock', text: `${readStatement.text} for update of m` };
export const lockMember = async (tx: Queryable, accountId: string, personId: string): Promise<MemberRow | null> =>
  (await tx.query<MemberRow>(lockStatement, [accountId, personId]))[0] ?? null;

const shareStatement = {
  name: 'membership-share',
  text: `select m.role, ${ofMember} from ${liveMembers} where m.account_id = $1 and m.person_id = $2 for share of m`,
};
/** The role, which nobody can change until the transaction ends. Null if the person is not a member. */
export const shareRole = async (tx: Queryable, accountId: string, personId: string): Promise<Role | null> =>
  (await tx.query<{ role: Role }>(shareStatement, [accountId, personId]))[0]?.role ?? null;

const listStatement = {
  name: 'membership-list',
  text: `select ${memberColumns}, ${ofMember} from ${liveMembers} where m.account_id = $1
    order by m.created_at, p.id limit 1000`,
};
export const listMembers = (db: Queryable, accountId: string): Promise<MemberRow[]> =>
  db.query<MemberRow>(listStatement, [accountId]);

const ownersStatement = {
  name: 'membership-lock-owners',
  text: `select p.id, coalesce(m.owner_since <= clock_timestamp() - interval '${establishedDays} days', false)
      as "isEstablished", m.owner_since as since, ${ofMember}
    from ${liveMembers} where m.account_id = $1 and m.role = 'owner' order by p.id for update of m`,
};
export type LockedOwner = Row & { readonly id: string; readonly isEstablished: boolean; readonly since: Date | null };
/** Locked, so that two owners cannot take the role from each other at the same time. */
export const lockOwners = (tx: Queryable, accountId: string): Promise<LockedOwner[]> =>
  tx.query<LockedOwner>(ownersStatement, [accountId]);

const sinceStatement = {
  name: 'membership-owners-since',
  text: `select m.person_id as "personId", m.owner_since as since, ${sealsOf({ m: 'memberships' })} from memberships m
    where m.account_id = $1 and m.role = 'owner' and m.removed_at is null and m.owner_since is not null`,
};
/** The owners of an account, and since when each is one. */
export const listOwners = (db: Queryable, accountId: string): Promise<{ personId: string; since: Date }[]> =>
  db.query<Row & { personId: string; since: Date }>(sinceStatement, [accountId]);

const anyOwnerStatement = {
  name: 'membership-any-owner',
  text: `select exists (select from ${liveMembers} where m.role = 'owner'
    and ($1::text is null or m.account_id = $1)) as found`,
};
/** Whether this account has an owner or, with null, whether any account has one. A forged one counts: it only refuses. */
export const hasOwner = async (db: Queryable, accountId: string | null): Promise<boolean> =>
  (await db.query<{ found: boolean }>(anyOwnerStatement, [accountId]))[0]!.found;

const roleStatement = {
  name: 'membership-role',
  text: sealedUpdate('memberships', {
    set: {
      role: '$3::person_role',
      owner_since: `case when $3::person_role = 'owner' then clock_timestamp() end`,
    },
    where: 't.account_id = $1 and t.person_id = $2',
  }),
};
export const updateRole = async (tx: Queryable, accountId: string, personId: string, role: Role): Promise<void> => {
  await tx.query(roleStatement, [accountId, personId, role]);
};

const removeStatement = {
  name: 'membership-remove',
  text: sealedUpdate('memberships', {
    set: { removed_at: 'clock_timestamp()' },
    where: 't.account_id = $1 and t.person_id = $2',
  }),
};
/** Removes the person from the account. What they sign in with stays theirs. */
export const removeMembership = async (tx: Queryable, accountId: string, personId: string): Promise<void> => {
  await tx.query(removeStatement, [accountId, personId]);
};

export type OwnAccount = Row & { id: string; name: string; role: Role };

const accountsStatement = {
  name: 'membership-accounts',
  text: `select a.id, a.name, m.role, ${sealsOf({ m: 'memberships', a: 'accounts' })} from memberships m join accounts a on a.id = m.account_id
    where m.person_id = $1 and m.removed_at is null order by m.last_seen_at desc nulls last, m.created_at, a.id limit 1000`,
};
/** The accounts that a person is a member of, the one they used last first. */
export const accountsOf = (db: Queryable, personId: string): Promise<OwnAccount[]> =>
  db.query<OwnAccount>(accountsStatement, [personId]);

const securedStatement = {
  name: 'membership-any-secured',
  text: `select exists (select from ${liveMembers} where m.account_id = $1 and ${hasSecondFactor}) as found`,
};
/** Whether anybody in the account has an authenticator app or a passkey: only a notice depends on it. */
export const hasSecuredMember = async (db: Queryable, accountId: string): Promise<boolean> =>
  (await db.query<{ found: boolean }>(securedStatement, [accountId]))[0]!.found;
