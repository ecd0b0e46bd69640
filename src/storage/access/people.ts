import type { Role } from '../../core/access/rights.ts';
import type { Queryable } from '../database.ts';

export type PersonRow = {
  id: string;
  accountId: string;
  email: string;
  name: string;
  role: Role;
  passwordHash: string | null;
  totpSecret: Buffer | null;
  totpPending: Buffer | null;
  totpLastStep: string;
  createdAt: Date;
  lastSeenAt: Date | null;
  passkeys: number;
  recoveryCodesLeft: number;
};

const columns = `p.id, p.account_id as "accountId", p.email, p.name, p.role, p.password_hash as "passwordHash",
  p.totp_secret as "totpSecret", p.totp_pending as "totpPending", p.totp_last_step as "totpLastStep",
  p.created_at as "createdAt", p.last_seen_at as "lastSeenAt",
  (select count(*)::int from passkeys k where k.account_id = p.account_id and k.person_id = p.id) as passkeys,
  (select count(*)::int from recovery_codes c
    where c.account_id = p.account_id and c.person_id = p.id and c.used_at is null) as "recoveryCodesLeft"`;

const insertStatement = {
  name: 'person-insert',
  text: `insert into people (account_id, id, email, name, role, password_hash, created_at) values ($1, $2, $3, $4, $5, $6, $7)`,
};
export const insertPerson = async (
  db: Queryable,
  person: Pick<PersonRow, 'accountId' | 'id' | 'email' | 'name' | 'role' | 'passwordHash' | 'createdAt'>,
): Promise<void> => {
  const { accountId, id, email, name, role, passwordHash, createdAt } = person;
  await db.query(insertStatement, [accountId, id, email, name, role, passwordHash, createdAt]);
};

const readStatement = {
  name: 'person-read',
  text: `select ${columns} from people p where p.account_id = $1 and p.id = $2 and p.removed_at is null`,
};
export const readPerson = async (db: Queryable, accountId: string, id: string): Promise<PersonRow | null> =>
  (await db.query<PersonRow>(readStatement, [accountId, id]))[0] ?? null;

const lockStatement = {
  name: 'person-lock',
  text: `select ${columns} from people p where p.account_id = $1 and p.id = $2 and p.removed_at is null for update of p`,
};
export const lockPerson = async (tx: Queryable, accountId: string, id: string): Promise<PersonRow | null> =>
  (await tx.query<PersonRow>(lockStatement, [accountId, id]))[0] ?? null;

const byEmailStatement = {
  name: 'person-by-email',
  text: `select ${columns} from people p where p.email = $1 and p.removed_at is null`,
};
export const findPersonByEmail = async (db: Queryable, email: string): Promise<PersonRow | null> =>
  (await db.query<PersonRow>(byEmailStatement, [email]))[0] ?? null;

const listStatement = {
  name: 'person-list',
  text: `select ${columns} from people p where p.account_id = $1 and p.removed_at is null order by p.id limit 1000`,
};
export const listPeople = (db: Queryable, accountId: string): Promise<PersonRow[]> =>
  db.query<PersonRow>(listStatement, [accountId]);

const ownersStatement = {
  name: 'person-lock-owners',
  text: `select id from people where account_id = $1 and role = 'owner' and removed_at is null order by id for update`,
};
/** Locked, so that two owners cannot take the role from each other at the same time. */
export const lockOwners = async (tx: Queryable, accountId: string): Promise<string[]> =>
  (await tx.query<{ id: string }>(ownersStatement, [accountId])).map(row => row.id);

const anyOwnerStatement = {
  name: 'person-any-owner',
  text: `select exists (select from people where role = 'owner' and removed_at is null
    and ($1::text is null or account_id = $1)) as found`,
};
/** Whether this account has an owner or, with null, whether any account has one. */
export const hasOwner = async (db: Queryable, accountId: string | null): Promise<boolean> =>
  (await db.query<{ found: boolean }>(anyOwnerStatement, [accountId]))[0]!.found;

const roleStatement = {
  name: 'person-role',
  text: `update people set role = $3 where account_id = $1 and id = $2`,
};
export const updateRole = async (tx: Queryable, accountId: string, id: string, role: Role): Promise<void> => {
  await tx.query(roleStatement, [accountId, id, role]);
};

const nameStatement = {
  name: 'person-name',
  text: `update people set name = $3 where account_id = $1 and id = $2`,
};
export const updatePersonName = async (tx: Queryable, accountId: string, id: string, name: string): Promise<void> => {
  await tx.query(nameStatement, [accountId, id, name]);
};

const passwordStatement = {
  name: 'person-password',
  text: `update people set password_hash = $3 where account_id = $1 and id = $2`,
};
export const updatePassword = async (tx: Queryable, accountId: string, id: string, hash: string): Promise<void> => {
  await tx.query(passwordStatement, [accountId, id, hash]);
};

const removeStatement = {
  name: 'person-remove',
  text: `with codes as (delete from recovery_codes where account_id = $1 and person_id = $2),
      keys as (delete from passkeys where account_id = $1 and person_id = $2)
    update people set removed_at = clock_timestamp(), password_hash = null, totp_secret = null, totp_pending = null
    where account_id = $1 and id = $2`,
};
/** Removes the person, with everything they could sign in with. */
export const removePerson = async (tx: Queryable, accountId: string, id: string): Promise<void> => {
  await tx.query(removeStatement, [accountId, id]);
};

const securedStatement = {
  name: 'person-any-secured',
  text: `select exists (select from people p where p.account_id = $1 and p.removed_at is null and (p.totp_secret is not null
    or exists (select from passkeys k where k.account_id = p.account_id and k.person_id = p.id))) as found`,
};
/** Whether anybody in the account has an authenticator app or a passkey. */
export const hasSecuredPerson = async (db: Queryable, accountId: string): Promise<boolean> =>
  (await db.query<{ found: boolean }>(securedStatement, [accountId]))[0]!.found;
