import type { Role } from '../../core/access/rights.ts';
import type { Queryable, Row } from '../database.ts';
import { sealedUpdate, sealsOf, toSeal } from '../seals.ts';
import { deletePasskeys } from './passkeys.ts';

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
  coalesce(cardinality(p.passkey_ids), 0) as passkeys,
  coalesce(cardinality(p.recovery_hashes), 0) as "recoveryCodesLeft"`;
const read = `${personColumns}, ${sealsOf({ p: 'people' })} from people p`;

/** For the alias p: an authenticator app or a passkey. The person's own row says so, because others can be deleted. */
export const hasSecondFactor = '(p.totp_secret is not null or p.passkey_ids is not null)';

const insertStatement = {
  name: 'person-insert',
  text: `insert into people as t (first_account_id, id, email, name, password_hash, created_at)
    values ($1, $2, $3, $4, $5, $6) returning ${toSeal('people', 't')}`,
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
  text: `select ${read} where p.id = $1 and p.removed_at is null`,
};
export const readPerson = async (db: Queryable, id: string): Promise<PersonRow | null> =>
  (await db.query<PersonRow>(readStatement, [id]))[0] ?? null;

const lockStatement = {
  name: 'person-lock',
  text: `${readStatement.text} for update of p`,
};
export const lockPerson = async (tx: Queryable, id: string): Promise<PersonRow | null> =>
  (await tx.query<PersonRow>(lockStatement, [id]))[0] ?? null;

const byEmailStatement = {
  name: 'person-by-email',
  text: `select ${read} where p.email = $1 and p.removed_at is null`,
};
export const findPersonByEmail = async (db: Queryable, email: string): Promise<PersonRow | null> =>
  (await db.query<PersonRow>(byEmailStatement, [email]))[0] ?? null;

const nameStatement = {
  name: 'person-name',
  text: sealedUpdate('people', { set: { name: '$2' }, where: 't.id = $1' }),
};
export const updatePersonName = async (tx: Queryable, id: string, name: string): Promise<void> => {
  await tx.query(nameStatement, [id, name]);
};

const passwordStatement = {
  name: 'person-password',
  text: sealedUpdate('people', { set: { password_hash: '$2' }, where: 't.id = $1' }),
};
export const updatePassword = async (tx: Queryable, id: string, hash: string): Promise<void> => {
  await tx.query(passwordStatement, [id, hash]);
};

const removeStatement = {
  name: 'person-remove',
  text: sealedUpdate('people', {
    set: {
      removed_at: 'clock_timestamp()',
      password_hash: 'null',
      totp_secret: 'null',
      totp_pending: 'null',
      recovery_hashes: 'null',
      session_ids: 'null',
      recovery_hash: 'null',
      earlier_until: 'null',
      earlier_password_hash: 'null',
      earlier_totp_secret: 'null',
      earlier_totp_step: 'null',
      earlier_passkey_ids: 'null',
      earlier_recovery_hashes: 'null',
    },
    where: 't.id = $1',
  }),
};
/** Removes the person with everything they could sign in with. Their memberships must be removed already. */
export const removePerson = async (tx: Queryable, id: string): Promise<void> => {
  await deletePasskeys(tx, id);
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
  text: `select p.id, p.email, p.name, ${hasSecondFactor} as "hasSecondFactor", ${sealsOf({ p: 'people' })}
    from people p where p.removed_at is null order by p.email limit 10000`,
};
const everyRoleStatement = {
  name: 'person-list-roles',
  text: `select m.person_id as "personId", a.id, a.name, m.role, ${sealsOf({ m: 'memberships', a: 'accounts' })}
    from memberships m join accounts a on a.id = m.account_id where m.removed_at is null and m.person_id = any($1)
    order by a.id`,
};
export const listEverybody = async (db: Queryable): Promise<ListedPerson[]> => {
  const people = await db.query<Row & Omit<ListedPerson, 'accounts'>>(everybodyStatement);
  const roles = await db.query<Row & ListedPerson['accounts'][number] & { personId: string }>(everyRoleStatement, [
    people.map(({ id }) => id),
  ]);
  const byPerson = Map.groupBy(roles, ({ personId }) => personId);
  return people.map(person => {
    const accounts = (byPerson.get(person.id) ?? []).map(({ id, name, role }) => ({ id, name, role }));
    return { ...person, accounts };
  });
};
