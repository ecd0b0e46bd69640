import type { Role } from '../../core/access/rights.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import { forgetOldEarlier } from '../../storage/access/earlierSignIn.ts';
import { accountsOf, shareRole } from '../../storage/access/memberships.ts';
import { findPersonByEmail, lockPerson, type PersonRow, readPerson } from '../../storage/access/people.ts';
import type { Queryable } from '../../storage/database.ts';
import type { PasskeyResponse } from '../../vault/passkeys.ts';
import { type Deed, memberActing } from '../audit/acting.ts';
import type { Context } from '../context.ts';
import { type Done, perform } from '../perform.ts';
import { knownDeviceOf } from './knownDevices.ts';
import { type Attempt, beginCode, beginProof, beginSignIn } from './lockOut.ts';
import { acceptPasskey, bearerOf, passkeyRefused, spendForPasskey } from './passkeys.ts';
import { checkPassword } from './people.ts';
import { recordFailure } from './recordFailure.ts';
import { lockSelf, takeCode } from './secondFactors.ts';
import { markProven, openSession, type SignedInPerson, type Visit } from './sessions.ts';

/** How a person showed who they are. A password alone is not strong. */
export type Proof = { readonly method: string; readonly isStrong: boolean };

/** A new session. The token goes into the cookie and is stored only as a hash. */
export type NewSession = { readonly token: string; readonly person: SignedInPerson };

/**
 * Where a sign-in attempt comes from. Failures are counted by `addressKey`, or by the device if its cookie shows that it
 * signed the person in before.
 */
export type SignInOrigin = Visit & { readonly addressKey: string; readonly deviceCookie: string | null };

/** Only this counts as a failure. */
class WrongProof extends FlorinError {}
const wrongPassword = (): WrongProof => new WrongProof('unauthorized', 'The e-mail address or the password is wrong.');
const wrongCode = (): WrongProof => new WrongProof('unauthorized', 'The code is wrong or was already used.', 'code');
const memberOfNothing = (): FlorinError =>
  new FlorinError('unauthorized', 'You are not a member of any account. Ask an owner for an invitation.');

/**
 * Opens a session for a person who has proven who they are. The proof also counts for sensitive actions in the next
 * minutes.
 */
export const startSession = async (
  context: Pick<Context, 'ids' | 'clock'>,
  tx: Queryable,
  { person, accountId, role }: { readonly person: PersonRow; readonly accountId: string; readonly role: Role },
  visit: Visit,
  { method, isStrong }: Proof,
): Promise<{ session: NewSession; deed: Deed }> => {
  const { id, name, email } = person;
  await forgetOldEarlier(tx, id);
  const { token, sessionId } = await openSession(context, tx, { accountId, id }, visit);
  const signedIn = { personId: id, accountId, role, name, email, sessionId };
  const proven = await markProven(tx, signedIn, isStrong);
  const detail = { method, device: visit.device, session: sessionId };
  return {
    session: { token, person: { ...signedIn, ...proven } },
    deed: { action: 'person.signed_in', subject: id, detail },
  };
};

/** Opens a session in the account that the person used last. */
export const startInLastAccount = async (
  context: Context,
  tx: Queryable,
  person: PersonRow,
  accountId: string,
  visit: Visit,
  proof: Proof,
): Promise<Done<NewSession>> => {
  const role = await shareRole(tx, accountId, person.id);
  if (role === null) throw memberOfNothing();
  const { session, deed } = await startSession(context, tx, { person, accountId, role }, visit, proof);
  return { value: session, deed };
};

export const lastAccountOf = async (context: Pick<Context, 'db'>, { id }: { readonly id: string }): Promise<string> => {
  const [account] = await accountsOf(context.db, id);
  if (!account) throw memberOfNothing();
  return account.id;
};

/** An attempt that could not be checked, because too many were running, does not count. */
const judgePassword = async (
  context: Context,
  attempt: Attempt,
  password: string,
  person: PersonRow | null,
): Promise<boolean> => {
  try {
    return await checkPassword(password, person?.passwordHash ?? null, attempt.rank);
  } catch (error) {
    await context.db.transaction(tx => attempt.undo(tx));
    throw error;
  }
};

/** The kind of proof; throws if the code is wrong. A person without an authenticator needs no code. */
const judgeCode = async (
  context: Context,
  tx: Queryable,
  person: PersonRow,
  code: string | undefined,
): Promise<'password' | 'totp' | 'recovery'> => {
  if (!person.totpSecret) return 'password';
  const kind = code === undefined ? null : await takeCode(context, tx, person, code);
  if (kind === null) throw wrongCode();
  return kind;
};

type Tries = { readonly attempt: Attempt; readonly codes: Attempt | null };

/**
 * Takes back what does not count: the try at a password beside a wrong code that is counted by itself, and both if the
 * proof was right, or not judged, and something else failed.
 */
const settleTries = async (
  context: Context,
  error: unknown,
  { attempt, codes }: Tries,
  failed: { readonly person: PersonRow; readonly address: string },
): Promise<void> => {
  if (!(error instanceof WrongProof)) {
    await context.db.transaction(async tx => {
      await attempt.undo(tx);
      await codes?.undo(tx);
    });
  } else if (error.param === 'code') {
    if (codes) await context.db.transaction(tx => attempt.undo(tx));
    recordFailure(context, failed.person, codes ?? attempt, failed.address, 'code');
  }
};

const proofs = {
  password: { method: 'password', isStrong: false },
  totp: { method: 'password and code', isStrong: true },
  recovery: { method: 'password and recovery code', isStrong: true },
  passkey: { method: 'passkey', isStrong: true },
} as const;

const maxEmailLength = 1_000;

type GivenPassword = { readonly email: string; readonly password: string; readonly code?: string | undefined };

/** What a person does once they have proven who they are, and the account in whose log it is recorded. */
export type Admission<T> = {
  /** Whose password is judged, and the person's row as the proof must fit it. */
  readonly find?: (db: Queryable, email: string) => Promise<PersonRow | null>;
  readonly lock?: (tx: Queryable, id: string) => Promise<PersonRow | null>;
  readonly accountOf: (person: PersonRow) => Promise<string>;
  readonly admit: (tx: Queryable, person: PersonRow, accountId: string, proof: Proof) => Promise<Done<T>>;
};

/** Proves a person by password and code. Null if the password is right and a code is still needed. */
export const proveByPassword = async <T>(
  context: Context,
  given: GivenPassword,
  origin: SignInOrigin,
  { find = findPersonByEmail, lock = lockPerson, accountOf, admit }: Admission<T>,
): Promise<T | null> => {
  const email = given.email.trim().normalize('NFC').toLowerCase().slice(0, maxEmailLength);
  const deviceId = knownDeviceOf(context, origin.deviceCookie, email);
  const attempt = await beginSignIn(context, { email, addressKey: origin.addressKey, deviceId });
  const found = await find(context.db, email);
  if (!(await judgePassword(context, attempt, given.password, found)) || !found) {
    recordFailure(context, found, attempt, origin.address, 'password');
    throw wrongPassword();
  }
  if (found.totpSecret && given.code === undefined) {
    await context.db.transaction(tx => attempt.undo(tx));
    return null;
  }
  let codes: Attempt | null = null;
  try {
    const accountId = await accountOf(found);
    const acting = memberActing({ ...found, accountId, personId: found.id }, origin.address);
    // A code from an unknown device is counted by itself.
    if (found.totpSecret && deviceId === null) codes = await beginCode(context, found);
    return await perform(context, acting, null, async tx => {
      const person = await lock(tx, found.id);
      // The password was changed, or the person removed, since the row was read.
      if (person?.passwordHash !== found.passwordHash) throw wrongPassword();
      const kind = await judgeCode(context, tx, person!, given.code);
      await attempt.markCorrect(tx);
      await codes?.markCorrect(tx);
      return admit(tx, person!, accountId, proofs[kind]);
    });
  } catch (error) {
    await settleTries(context, error, { attempt, codes }, { person: found, address: origin.address });
    throw error;
  }
};

/** Proves a person by a passkey. Passkeys cannot be guessed, so a lock-out does not apply. */
export const proveByPasskey = async <T>(
  context: Context,
  response: PasskeyResponse,
  { address }: Visit,
  { lock = lockPerson, accountOf, admit }: Admission<T>,
): Promise<T> => {
  const spent = await spendForPasskey(context, 'sign-in', response, null);
  const personId = await bearerOf(context, response);
  const found = await readPerson(context.db, personId);
  if (!found) throw passkeyRefused();
  const accountId = await accountOf(found);
  return perform(context, memberActing({ ...found, accountId, personId }, address), null, async tx => {
    const person = await lock(tx, personId);
    if (!person || (await acceptPasskey(context, tx, spent)).personId !== personId) throw passkeyRefused();
    return admit(tx, person, accountId, proofs.passkey);
  });
};

const signingIn = (context: Context, visit: Visit): Admission<NewSession> => ({
  accountOf: person => lastAccountOf(context, person),
  admit: (tx, person, accountId, proof) => startInLastAccount(context, tx, person, accountId, visit, proof),
});

/** Null if the password is right and a code is still needed. */
export const signInWithPassword = (
  context: Context,
  given: GivenPassword,
  origin: SignInOrigin,
): Promise<NewSession | null> => proveByPassword(context, given, origin, signingIn(context, origin));

export const signInWithPasskey = (context: Context, response: PasskeyResponse, visit: Visit): Promise<NewSession> =>
  proveByPasskey(context, response, visit, signingIn(context, visit));

const proved = async (tx: Queryable, person: SignedInPerson, { method, isStrong }: Proof): Promise<Done<Date>> => ({
  value: (await markProven(tx, person, isStrong)).provenUntil,
  deed: { action: 'person.proved', subject: person.personId, detail: { method } },
});

/** Proves the person's identity again, for sensitive actions in the next minutes. */
export const proveWithPassword = async (
  context: Context,
  person: SignedInPerson,
  given: { password: string; code?: string | undefined },
  address: string,
): Promise<Date> => {
  const attempt = await beginProof(context, person);
  const found = await findPersonByEmail(context.db, person.email);
  const isRight = await judgePassword(context, attempt, given.password, found);
  if (!isRight || found?.id !== person.personId) {
    recordFailure(context, found, attempt, address, 'password');
    throw new FlorinError('unauthorized', 'The password is wrong.', 'password');
  }
  if (found.totpSecret && given.code === undefined) {
    await context.db.transaction(tx => attempt.undo(tx));
    throw invalid('code', 'Enter a code from your authenticator too.');
  }
  try {
    return await perform(context, memberActing(person, address), null, async tx => {
      const row = await lockSelf(tx, person);
      if (row.passwordHash !== found.passwordHash) throw wrongPassword();
      const kind = await judgeCode(context, tx, row, given.code);
      await attempt.markCorrect(tx);
      return proved(tx, person, proofs[kind]);
    });
  } catch (error) {
    await settleTries(context, error, { attempt, codes: null }, { person: found, address });
    throw error;
  }
};

export const proveWithPasskey = async (
  context: Context,
  person: SignedInPerson,
  response: PasskeyResponse,
  address: string,
): Promise<Date> => {
  const spent = await spendForPasskey(context, 'prove', response, person);
  return perform(context, memberActing(person, address), null, async tx => {
    const passkey = await acceptPasskey(context, tx, spent);
    if (passkey.personId !== person.personId) throw passkeyRefused();
    return proved(tx, person, proofs.passkey);
  });
};
