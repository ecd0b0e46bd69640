import { FlorinError, invalid } from '../../core/errors.ts';
import { findPersonByEmail, lockPerson, type PersonRow } from '../../storage/access/people.ts';
import type { Queryable } from '../../storage/database.ts';
import type { PasskeyResponse } from '../../vault/passkeys.ts';
import { personActor, recordAudit, systemActor } from '../audit/audit.ts';
import type { Context } from '../context.ts';
import { type Attempt, beginProof, beginSignIn } from './lockOut.ts';
import { acceptPasskey, passkeyRefused, spendForPasskey } from './passkeys.ts';
import { checkPassword } from './people.ts';
import { lockSelf, takeCode } from './secondFactors.ts';
import { markProven, openSession, type SignedInPerson, type Visit } from './sessions.ts';

/** A new session. The token goes into the cookie and is stored only as a hash. */
export type NewSession = { readonly token: string; readonly person: SignedInPerson };

/** Where a sign-in attempt comes from. Failures are counted by `addressKey`. */
export type SignInOrigin = Visit & { readonly addressKey: string };

const wrongPassword = (): FlorinError =>
  new FlorinError('unauthorized', 'The e-mail address or the password is wrong.');
const wrongCode = (): FlorinError => new FlorinError('unauthorized', 'The code is wrong or was already used.', 'code');

const signedInAs = ({ id, accountId, role, name, email }: PersonRow) => ({
  personId: id,
  accountId,
  role,
  name,
  email,
});

/**
 * Opens a session for a person who has proven who they are. The proof also counts for sensitive actions in the next
 * minutes.
 */
export const startSession = async (
  context: Context,
  tx: Queryable,
  person: PersonRow,
  { address, device }: Visit,
  method: string,
): Promise<NewSession> => {
  const { token, sessionId } = await openSession(context, tx, person, { address, device });
  const signedIn = { ...signedInAs(person), sessionId, provenUntil: null };
  const provenUntil = await markProven(tx, signedIn);
  await recordAudit(context, tx, {
    accountId: person.accountId,
    environment: null,
    actor: personActor(signedIn),
    action: 'person.signed_in',
    subject: person.id,
    detail: { method, device, session: sessionId },
    address,
  });
  return { token, person: { ...signedIn, provenUntil } };
};

/**
 * Records a failure that causes a lock-out. Single failures are not recorded, because anybody can make any number of
 * them. The response does not wait for this, or its timing would reveal which e-mail addresses exist.
 */
const recordFailure = (
  context: Context,
  person: PersonRow | null,
  attempt: Attempt,
  origin: SignInOrigin,
  what: string,
): void => {
  if (!person || !attempt.isPastFree) return;
  const recorded = context.db.transaction(tx =>
    recordAudit(context, tx, {
      accountId: person.accountId,
      environment: null,
      actor: systemActor,
      action: 'person.locked_out',
      subject: person.id,
      detail: { email: person.email, failures: attempt.failures, what },
      address: origin.address,
    }),
  );
  recorded.catch(error => context.log.error({ err: error }, 'a lock-out could not be recorded'));
};

/** An attempt that could not be checked, because too many were running, does not count. */
const judgePassword = async (
  context: Context,
  attempt: Attempt,
  password: string,
  person: PersonRow | null,
): Promise<boolean> => {
  try {
    return await checkPassword(password, person?.passwordHash ?? null);
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

const methods = { password: 'password', totp: 'password and code', recovery: 'password and recovery code' } as const;

const maxEmailLength = 1_000;

/** Null if the password is right and a code is still needed. */
export const signInWithPassword = async (
  context: Context,
  given: { email: string; password: string; code?: string | undefined },
  origin: SignInOrigin,
): Promise<NewSession | null> => {
  const email = given.email.trim().normalize('NFC').toLowerCase().slice(0, maxEmailLength);
  const attempt = await beginSignIn(context, { email, addressKey: origin.addressKey });
  const found = await findPersonByEmail(context.db, email);
  if (!(await judgePassword(context, attempt, given.password, found)) || !found) {
    recordFailure(context, found, attempt, origin, 'password');
    throw wrongPassword();
  }
  if (found.totpSecret && given.code === undefined) {
    await context.db.transaction(tx => attempt.undo(tx));
    return null;
  }
  try {
    return await context.db.transaction(async tx => {
      const person = await lockPerson(tx, found.accountId, found.id);
      // The password was changed, or the person removed, since the row was read.
      if (person?.passwordHash !== found.passwordHash) throw wrongPassword();
      const kind = await judgeCode(context, tx, person!, given.code);
      await attempt.markCorrect(tx);
      return startSession(context, tx, person!, origin, methods[kind]);
    });
  } catch (error) {
    if (error instanceof FlorinError && error.param === 'code') {
      recordFailure(context, found, attempt, origin, 'code');
    }
    throw error;
  }
};

/** Passkeys cannot be guessed, so a lock-out does not apply. */
export const signInWithPasskey = async (
  context: Context,
  response: PasskeyResponse,
  visit: Visit,
): Promise<NewSession> => {
  const spent = await spendForPasskey(context, 'sign-in', response, null);
  return context.db.transaction(async tx => {
    const passkey = await acceptPasskey(context, tx, spent);
    const person = await lockPerson(tx, passkey.accountId, passkey.personId);
    if (!person) throw passkeyRefused();
    return startSession(context, tx, person, visit, 'passkey');
  });
};

const recordProof = async (
  context: Context,
  tx: Queryable,
  person: SignedInPerson,
  method: string,
  address: string,
) => {
  const until = await markProven(tx, person);
  await recordAudit(context, tx, {
    accountId: person.accountId,
    environment: null,
    actor: personActor(person),
    action: 'person.proved',
    subject: person.personId,
    detail: { method },
    address,
  });
  return until;
};

/** Proves the person's identity again, for sensitive actions in the next minutes. */
export const proveWithPassword = async (
  context: Context,
  person: SignedInPerson,
  given: { password: string; code?: string | undefined },
  origin: SignInOrigin,
): Promise<Date> => {
  const attempt = await beginProof(context, person);
  const found = await findPersonByEmail(context.db, person.email);
  const isRight = await judgePassword(context, attempt, given.password, found);
  if (!isRight || found?.id !== person.personId) {
    recordFailure(context, found, attempt, origin, 'password');
    throw new FlorinError('unauthorized', 'The password is wrong.', 'password');
  }
  if (found.totpSecret && given.code === undefined) {
    await context.db.transaction(tx => attempt.undo(tx));
    throw invalid('code', 'Enter a code from your authenticator too.');
  }
  try {
    return await context.db.transaction(async tx => {
      const row = await lockSelf(tx, person);
      if (row.passwordHash !== found.passwordHash) throw wrongPassword();
      const kind = await judgeCode(context, tx, row, given.code);
      await attempt.markCorrect(tx);
      return recordProof(context, tx, person, methods[kind], origin.address);
    });
  } catch (error) {
    if (error instanceof FlorinError && error.param === 'code') {
      recordFailure(context, found, attempt, origin, 'code');
    }
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
  return context.db.transaction(async tx => {
    const passkey = await acceptPasskey(context, tx, spent);
    if (passkey.personId !== person.personId) throw passkeyRefused();
    return recordProof(context, tx, person, 'passkey', address);
  });
};
