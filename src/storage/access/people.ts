import type { Role } from '../../core/access/rights.ts';
import type { Queryable, Row } from '../database.ts';

/** A person and how they prove who they are, whatever accounts they are a member of. */
export type PersonRow = {
  id: string;
  /** The account they joined first: part of what their authenticator is sealed for. It gives no right. */
  firstAccountId: string;
  email: string;
  name: string;
  passwordHash: string | null;
  totpSecret: Buffer | null;
  totpPending: Buffer | null;
  totpLastStep: string;
  passkeys: number;
  recoveryCodesLeft: number;
};

/** For the alias p. */
export const personColumns = `p.id, p.first_account_id as "firstAccountId", p.email, p.name,
  p.password_hash as "passwordHash", p.totp_secret as "totpSecret", p.totp_pending as "totpPending",
  p.totp_last_step as "totpLastStep",
  (select count(*)::int from passkeys k where k.person_id = p.id) as passkeys,
  (select count(*)::int from recovery_codes c where c.person_id = p.id and c.used_at is null) as "recoveryCodesLeft"`;

const insertStatement = {
  name: 'person-insert',
  text: `insert into people (first_account_id, id, email, name, password_hash, created_at) values ($1, $2, $3, $4, $5, $6)`,
};
export const insertPerson = async (
  db: Queryable,
  person: Pick<PersonRow, 'firstAccountId' | 'id' | 'email' | 'name' | 'passwordHash'> & { createdAt: Date },
): Promise<void> => {
  const { firstAccountId, id, email, name, passwordHash, createdAt } = person;
  await db.query(insertStatement, [firstAccountId, id, email, name, passwordHash, createdAt]);
};

const readStatement = {
  name: 'person-read',
  text: `select ${personColumns} from people p where p.id = $1 and p.removed_at is null`,
};
export const readPerson = async (db: Queryable, id: string): Promise<PersonRow | null> =>
  (await db.query<PersonRow>(readStatement, [id]))[0] ?? null;

const lockStatement = {
  name: 'person-lock',
  text: `select ${personColumns} from people p where p.id = $1 and p.removed_at is null for update of p`,
};
export const lockPerson = async (tx: Queryable, id: string): Promise<PersonRow | null> =>
  (await tx.query<PersonRow>(lockStatement, [id]))[0] ?? null;

const byEmailStatement = {
  name: 'person-by-email',
  text: `select ${personColumns} from people p where p.email = $1 and p.removed_at is null`,
};
export const findPersonByEmail = async (db: Queryable, email: string): Promise<PersonRow | null> =>
  (await db.query<PersonRow>(byEmailStatement, [email]))[0] ?? null;

const nameStatement = { name: 'person-name', text: `update people set name = $2 where id = $1` };
export const updatePersonName = async (tx: Queryable, id: string, name: string): Promise<void> => {
  await tx.query(nameStatement, [id, name]);
};

const passwordStatement = { name: 'person-password', text: `update people set password_hash = $2 where id = $1` };
export const updatePassword = async (tx: Queryable, id: string, hash: string): Promise<void> => {
  await tx.query(passwordStatement, [id, hash]);
};

const removeStatement = {
  name: 'person-remove',
  text: `with codes as (delete from recovery_codes where person_id = $1),
      keys as (delete from passkeys where person_id = $1)
    update people set removed_at = clock_timestamp(), password_hash = null, totp_secret = null, totp_pending = null
    where id = $1`,
};
/** Removes the person with everything they could sign in with. Their memberships must be removed already. */
export const removePerson = async (tx: Queryable, id: string): Promise<void> => {
  await tx.query(removeStatement, [id]);
};

/** A person with their accounts, for the operator. */
export type ListedPerson = {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly hasSecondFactor: boolean;
  readonly accounts: readonly { readonly id: string; readonly name: string; readonly role: Role }[];
};

const everybodyStatement = {
  name: 'person-list-all',
  text: `select p.id, p.email, p.name,
      p.totp_secret is not null or exists (select from passkeys k where k.person_id = p.id) as "hasSecondFactor",
      coalesce((
        select json_agg(json_build_object('id', a.id, 'name', a.name, 'role', m.role) order by a.id)
        from memberships m join accounts a on a.id = m.account_id where m.person_id = p.id and m.removed_at is null
      ), '[]') as accounts
    from people p where p.removed_at is null order by p.email limit 10000`,
};
export const listEverybody = (db: Queryable): Promise<ListedPerson[]> =>
  db.query<Row & ListedPerson>(everybodyStatement);
