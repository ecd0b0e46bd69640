import { randomBytes } from 'node:crypto';
import { FlorinError, invalid } from '../../core/errors.ts';
import {
  type ChallengePurpose,
  deletePasskey,
  insertPasskey,
  listPasskeys,
  lockPasskey,
  markPasskeyUsed,
  type PasskeyRow,
  putChallenge,
  takeChallenge,
} from '../../storage/dashboard/passkeys.ts';
import { isUniqueViolation, type Queryable } from '../../storage/database.ts';
import {
  challengeIn,
  credentialIn,
  type PasskeyResponse,
  passkeyRegistration,
  passkeyRequest,
  personIn,
  relyingPartyOf,
  verifyNewPasskey,
  verifyPasskeyUse,
} from '../../vault/passkeys.ts';
import type { Context } from '../context.ts';
import { personActor, recordAudit } from './audit.ts';
import type { SignedInPerson } from './sessions.ts';

const challengeSeconds = 300;
const mostPasskeys = 20;

const newChallenge = async (
  context: Pick<Context, 'db'>,
  purpose: ChallengePurpose,
  personId: string | null,
): Promise<Buffer> => {
  const bytes = randomBytes(32);
  await putChallenge(context.db, { bytes, purpose, personId, livesSeconds: challengeSeconds });
  return bytes;
};

export const passkeyRefused = (): FlorinError =>
  new FlorinError('unauthorized', 'This passkey could not be verified. Try again.');

/** The challenge that the answer is for, used up whatever comes of it. */
const spendChallenge = async (
  context: Pick<Context, 'db'>,
  response: PasskeyResponse,
  purpose: ChallengePurpose,
  personId: string | null,
): Promise<Buffer | null> => {
  const challenge = challengeIn(response);
  if (challenge?.length !== 32) return null;
  return (await takeChallenge(context.db, challenge, purpose, personId)) ? challenge : null;
};

export const requestPasskey = async (
  context: Context,
  purpose: 'sign-in' | 'prove',
  person: SignedInPerson | null,
): Promise<Record<string, unknown>> => {
  const challenge = await newChallenge(context, purpose, person?.personId ?? null);
  const known = person ? await listPasskeys(context.db, person.accountId, person.personId) : [];
  return passkeyRequest(relyingPartyOf(context.dashboard.url), challenge, known);
};

/** A challenge that was spent, to be verified within the transaction of what it allows. */
export type SpentChallenge = { readonly challenge: Buffer; readonly response: PasskeyResponse };

export const spendForPasskey = async (
  context: Context,
  purpose: 'sign-in' | 'prove',
  response: PasskeyResponse,
  person: SignedInPerson | null,
): Promise<SpentChallenge> => {
  const challenge = await spendChallenge(context, response, purpose, person?.personId ?? null);
  if (!challenge) throw passkeyRefused();
  return { challenge, response };
};

/** Whose passkey it is, once verified and marked as used. */
export const acceptPasskey = async (
  context: Context,
  tx: Queryable,
  { challenge, response }: SpentChallenge,
): Promise<PasskeyRow> => {
  const credentialId = credentialIn(response);
  const passkey = credentialId && (await lockPasskey(tx, credentialId));
  if (!passkey) throw passkeyRefused();
  const named = personIn(response);
  if (named !== null && named !== passkey.personId) throw passkeyRefused();
  const known = { ...passkey, counter: Number(passkey.counter) };
  const use = await verifyPasskeyUse(relyingPartyOf(context.dashboard.url), challenge, response, known);
  if (!use) throw passkeyRefused();
  await markPasskeyUsed(tx, passkey.credentialId, use);
  return passkey;
};

export const listOwnPasskeys = (context: Pick<Context, 'db'>, person: SignedInPerson): Promise<PasskeyRow[]> =>
  listPasskeys(context.db, person.accountId, person.personId);

export const beginPasskey = async (context: Context, person: SignedInPerson): Promise<Record<string, unknown>> => {
  const challenge = await newChallenge(context, 'register', person.personId);
  const known = await listOwnPasskeys(context, person);
  const { personId: id, email, name } = person;
  return passkeyRegistration(relyingPartyOf(context.dashboard.url), challenge, { id, email, name }, known);
};

export const addPasskey = async (
  context: Context,
  person: SignedInPerson,
  given: { name: string; response: PasskeyResponse },
  address: string,
): Promise<PasskeyRow> => {
  const { accountId, personId } = person;
  const challenge = await spendChallenge(context, given.response, 'register', personId);
  const made = challenge && (await verifyNewPasskey(relyingPartyOf(context.dashboard.url), challenge, given.response));
  if (!made) throw invalid('response', 'This passkey could not be verified. Try again.');
  const name = given.name.trim().slice(0, 100) || 'Passkey';
  return context.db.transaction(async tx => {
    if ((await listPasskeys(tx, accountId, personId)).length >= mostPasskeys) {
      throw new FlorinError('conflict', `You have ${mostPasskeys} passkeys. Remove one first.`);
    }
    const { id } = context.ids.next('passkey', context.clock.nowMs());
    const { credentialId, publicKey, counter, backedUp } = made;
    const transports = [...made.transports];
    const row = { accountId, personId, id, credentialId, publicKey, counter, transports, backedUp, name };
    const stored = await insertPasskey(tx, row).catch(error => {
      if (!isUniqueViolation(error, 'passkeys_credential_id_key')) throw error;
      throw new FlorinError('conflict', 'This passkey is registered already.');
    });
    const actor = personActor(person);
    const entry = { accountId, environment: null, actor, action: 'person.passkey_added' as const, subject: id };
    await recordAudit(context, tx, { ...entry, detail: { name }, address });
    return stored;
  });
};

export const removePasskey = (context: Context, person: SignedInPerson, id: string, address: string): Promise<void> =>
  context.db.transaction(async tx => {
    const { accountId, personId } = person;
    const name = await deletePasskey(tx, accountId, personId, id);
    if (name === null) throw new FlorinError('not_found', 'You have no such passkey.');
    const actor = personActor(person);
    const entry = { accountId, environment: null, actor, action: 'person.passkey_removed' as const, subject: id };
    await recordAudit(context, tx, { ...entry, detail: { name }, address });
  });
