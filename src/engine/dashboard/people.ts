import { refusePassword } from '../../core/dashboard/passwordRules.ts';
import type { Role } from '../../core/dashboard/roles.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import { insertPerson } from '../../storage/dashboard/people.ts';
import { isUniqueViolation, type Queryable } from '../../storage/database.ts';
import { hashPassword, TooManyPasswords, verifyPassword } from '../../vault/passwords.ts';
import type { Context } from '../context.ts';

const emailForm = /^[^\s@"<>(),:;\\[\]]{1,64}@[^\s@"<>(),:;\\[\]]+\.[^\s@"<>(),:;\\[\].]{2,}$/;
const longestEmail = 254;

/** As it is stored and compared; a refusal where it is none. */
export const readEmail = (text: string): string => {
  const email = text.trim().normalize('NFC').toLowerCase();
  if (!emailForm.test(email) || email.length > longestEmail || email !== email.toLowerCase())
    throw invalid('email', 'This is not an e-mail address.');
  return email;
};

const longestName = 200;

export const readName = (text: string): string => {
  const name = text.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (name === '' || name.length > longestName || /[\u0000-\u001f\u007f]/.test(name) || !name.isWellFormed())
    throw invalid('name', `A name has between 1 and ${longestName} characters, all of them printable.`);
  return name;
};

const busy = (): FlorinError =>
  new FlorinError('service_unavailable', 'Too many people are signing in. Try again in a moment.');

const whenRoom = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw error instanceof TooManyPasswords ? busy() : error;
  }
};

/** The hash of a password that this person may have. */
export const acceptPassword = (password: string, person: { email: string; name: string }): Promise<string> => {
  const refusal = refusePassword(password, person);
  if (refusal !== null) throw invalid('password', refusal);
  return whenRoom(hashPassword(password));
};

export const checkPassword = (password: string, hash: string | null): Promise<boolean> =>
  whenRoom(verifyPassword(password, hash));

export type NewPerson = {
  readonly accountId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** Null where a passkey is the way in. */
  readonly passwordHash: string | null;
};

export const addPerson = async (
  context: Pick<Context, 'ids' | 'clock'>,
  tx: Queryable,
  person: NewPerson,
  promisedId: string | null = null,
): Promise<{ accountId: string; id: string }> => {
  const { id: nextId, ms } = context.ids.next('person', context.clock.nowMs());
  const id = promisedId ?? nextId;
  try {
    await insertPerson(tx, { ...person, id, createdAt: new Date(ms) });
  } catch (error) {
    if (!isUniqueViolation(error, 'people_email')) throw error;
    throw new FlorinError('conflict', 'Somebody has this e-mail address already.', 'email');
  }
  return { accountId: person.accountId, id };
};
