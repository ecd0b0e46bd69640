import { FlorinError, invalid } from '../../core/errors.ts';
import { findPersonByEmail, lockPerson, type PersonRow } from '../../storage/dashboard/people.ts';
import type { Queryable } from '../../storage/database.ts';
import type { PasskeyResponse } from '../../vault/passkeys.ts';
import type { Context } from '../context.ts';
import { personActor, recordAudit, systemActor } from './audit.ts';
import { type Attempt, beginProof, beginSignIn } from './lockOut.ts';
import { acceptPasskey, passkeyRefused, spendForPasskey } from './passkeys.ts';
import { checkPassword } from './people.ts';
import { lockSelf, takeCode } from './secondFactors.ts';
import { markProven, openSession, type SignedInPerson, type Visit } from './sessions.ts';

/** A session was opened: the token is the cookie's, and known nowhere else. */
export type NewSession = { readonly token: string; readonly person: SignedInPerson };

/** From where somebody tries; `addressKey` is what addresses are counted by. */
export type Knock = Visit & { readonly addressKey: string };

const wrongPassword = (): FlorinError =>
  new FlorinError('unauthorized', 'The e-mail address or the password is wrong.');
const wrongCode = (): FlorinError => new FlorinError('unauthorized', 'The code is wrong or was used before.', 'code');

const signedInAs = ({ id, accountId, role, name, email }: PersonRow) => ({
  personId: id,
  accountId,
  role,
  name,
  email,
});

/** Opens the session of somebody who has proven who they are, which is good for the next few minutes' steps, too. */
export const welcome = async (
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
 * Single failures are not told: anybody can make as many as they like. Those that lock somebody out are. The answer does
 * not wait for it, or its time would tell which e-mail addresses are somebody's.
 */
const tellFailure = (
  context: Context,
  person: PersonRow | null,
  attempt: Attempt,
  knock: Knock,
  what: string,
): void => {
  if (!person || !attempt.isPastFree) return;
  const told = context.db.transaction(tx =>
    recordAudit(context, tx, {
      accountId: person.accountId,
      environment: null,
      actor: systemActor,
      action: 'person.locked_out',
      subject: person.id,
      detail: { email: person.email, failures: attempt.failures, what },
      address: knock.address,
    }),
  );
  told.catch(error => context.log.error({ err: error }, 'a lock-out could not be written down'));
};

/** What could not be judged, because there was no room, was no guess. */
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

/** What a code was, or the refusal. A person without an authenticator needs none. */
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

const longestText = 1_000;

/** Null where the password is right and a code is still needed. */
export const signInWithPassword = async (
  context: Context,
  given: { email: string; password: string; code?: string | undefined },
  knock: Knock,
): Promise<NewSession | null> => {
  const email = given.email.trim().normalize('NFC').toLowerCase().slice(0, longestText);
  const attempt = await beginSignIn(context, { email, addressKey: knock.addressKey });
  const found = await findPersonByEmail(context.db, email);
  if (!(await judgePassword(context, attempt, given.password, found)) || !found) {
    tellFailure(context, found, attempt, knock, 'password');
    throw wrongPassword();
  }
  if (found.totpSecret && given.code === undefined) {
    await context.db.transaction(tx => attempt.undo(tx));
    return null;
  }
  try {
    return await context.db.transaction(async tx => {
      const person = await lockPerson(tx, found.accountId, found.id);
      // Changed or removed since it was read.
      if (person?.passwordHash !== found.passwordHash) throw wrongPassword();
      const kind = await judgeCode(context, tx, person!, given.code);
      await attempt.forgive(tx);
      return welcome(context, tx, person!, knock, methods[kind]);
    });
  } catch (error) {
    if (error instanceof FlorinError && error.param === 'code') {
      tellFailure(context, found, attempt, knock, 'code');
    }
    throw error;
  }
};

/** Nothing is guessed here, so a lock-out does not hold it up. */
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
    return welcome(context, tx, person, visit, 'passkey');
  });
};

const tellProof = async (context: Context, tx: Queryable, person: SignedInPerson, method: string, address: string) => {
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

/** Shows again who is there, for the sensitive steps of the next minutes. */
export const proveWithPassword = async (
  context: Context,
  person: SignedInPerson,
  given: { password: string; code?: string | undefined },
  knock: Knock,
): Promise<Date> => {
  const attempt = await beginProof(context, person);
  const found = await findPersonByEmail(context.db, person.email);
  const isRight = await judgePassword(context, attempt, given.password, found);
  if (!isRight || found?.id !== person.personId) {
    tellFailure(context, found, attempt, knock, 'password');
    throw new FlorinError('unauthorized', 'The password is wrong.', 'password');
  }
  if (found.totpSecret && given.code === undefined) {
    await context.db.transaction(tx => attempt.undo(tx));
    throw invalid('code', 'Give a code of your authenticator, too.');
  }
  try {
    return await context.db.transaction(async tx => {
      const row = await lockSelf(tx, person);
      if (row.passwordHash !== found.passwordHash) throw wrongPassword();
      const kind = await judgeCode(context, tx, row, given.code);
      await attempt.forgive(tx);
      return tellProof(context, tx, person, methods[kind], knock.address);
    });
  } catch (error) {
    if (error instanceof FlorinError && error.param === 'code') {
      tellFailure(context, found, attempt, knock, 'code');
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
    return tellProof(context, tx, person, 'passkey', address);
  });
};
