import { refusePassword } from '../../core/access/passwordRules.ts';
import type { Role } from '../../core/access/rights.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import { putMembership } from '../../storage/access/memberships.ts';
import { insertPerson } from '../../storage/access/people.ts';
import { isUniqueViolation, type Queryable } from '../../storage/database.ts';
import { isBreached } from '../../vault/breachedPasswords.ts';
import { hashPassword, type Rank, TooManyPasswords, verifyPassword } from '../../vault/passwords.ts';
import type { Context } from '../context.ts';

const emailForm = /^[^\s@"<>(),:;\\[\]]{1,64}@[^\s@"<>(),:;\\[\]]+\.[^\s@"<>(),:;\\[\].]{2,}$/;
const maxEmailLength = 254;

/** The e-mail address as stored and compared. Throws if it is not one. */
export const readEmail = (text: string): string => {
  const email = text.trim().normalize('NFC').toLowerCase();
  if (!emailForm.test(email) || email.length > maxEmailLength || email !== email.toLowerCase())
    throw invalid('email', 'Enter a valid e-mail address.');
  return email;
};

const maxNameLength = 200;

export const readName = (text: string): string => {
  const name = text.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (name === '' || name.length > maxNameLength || /[\u0000-\u001f\u007f]/.test(name) || !name.isWellFormed())
    throw invalid('name', `The name must have 1 to ${maxNameLength} printable characters.`);
  return name;
};

const busy = (): FlorinError =>
  new FlorinError('service_unavailable', 'Too many people are signing in. Try again in a moment.');

const refuseWhenBusy = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw error instanceof TooManyPasswords ? busy() : error;
  }
};

const breached = 'This password is in lists that attackers try. Choose another one, for example a few unrelated words.';

/** The hash of a password that this person may use. */
export const acceptPassword = (password: string, person: { email: string; name: string }): Promise<string> => {
  const refusal = refusePassword(password, person);
  if (refusal !== null) throw invalid('password', refusal);
  if (isBreached(password)) throw invalid('password', breached);
  return refuseWhenBusy(hashPassword(password));
};

export const checkPassword = (password: string, hash: string | null, rank: Rank): Promise<boolean> =>
  refuseWhenBusy(verifyPassword(password, hash, rank));

export type NewPerson = {
  readonly accountId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** Null where a passkey is the way in. */
  readonly passwordHash: string | null;
};

/** Adds a person as a member of their first account. */
export const addPerson = async (
  context: Pick<Context, 'ids' | 'clock'>,
  tx: Queryable,
  person: NewPerson,
  promisedId: string | null = null,
): Promise<{ accountId: string; id: string; createdAt: Date }> => {
  const { id: nextId, ms } = context.ids.next('person', context.clock.nowMs());
  const id = promisedId ?? nextId;
  const createdAt = new Date(ms);
  try {
    await insertPerson(tx, { ...person, firstAccountId: person.accountId, id, createdAt });
  } catch (error) {
    if (!isUniqueViolation(error, 'people_email')) throw error;
    throw new FlorinError(
      'conflict',
      'This e-mail address has a sign-in already. Join with it. A link to set a new password comes from the sign-in page, if mail is set up, or from whoever runs this Florin.',
      'email',
    );
  }
  await putMembership(tx, person.accountId, id, person.role);
  return { accountId: person.accountId, id, createdAt };
};
