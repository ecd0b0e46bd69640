import { randomBytes } from 'node:crypto';
import { FlorinError, invalid } from '../../core/errors.ts';
import {
  type ChallengePurpose,
  deletePasskey,
  findBearer,
  insertPasskey,
  listPasskeys,
  lockPasskey,
  markPasskeyUsed,
  type PasskeyRow,
  putChallenge,
  takeChallenge,
} from '../../storage/access/passkeys.ts';
import { isUniqueViolation, type Queryable } from '../../storage/database.ts';
import {
  challengeIn,
  credentialIn,
  type NewPasskey,
  type PasskeyResponse,
  passkeyRegistration,
  passkeyRequest,
  personIn,
  relyingPartyOf,
  verifyNewPasskey,
  verifyPasskeyUse,
} from '../../vault/passkeys.ts';
import type { Deed } from '../audit/acting.ts';
import type { Context } from '../context.ts';
import type { AccountWork } from '../perform.ts';
import { inEveryAccount } from './inEveryAccount.ts';
import { lockToChange } from './secondFactors.ts';
import type { SignedInPerson } from './sessions.ts';

const challengeSeconds = 300;
const maxPasskeys = 20;

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

/** The challenge that the response answers. It is used up in any case. */
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
  const existing = person ? await listPasskeys(context.db, person.personId) : [];
  return passkeyRequest(relyingPartyOf(context.dashboard.url), challenge, existing);
};

/** A used challenge, to be verified in the transaction of the action it allows. */
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

/** Whose passkey answered, before it is verified. */
export const bearerOf = async (context: Pick<Context, 'db'>, response: PasskeyResponse): Promise<string> => {
  const credentialId = credentialIn(response);
  const personId = credentialId && (await findBearer(context.db, credentialId));
  if (!personId) throw passkeyRefused();
  return personId;
};

/** Verifies the response and marks the passkey as used. Returns the passkey. */
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
  const stored = { ...passkey, counter: Number(passkey.counter) };
  const use = await verifyPasskeyUse(relyingPartyOf(context.dashboard.url), challenge, response, stored);
  if (!use) throw passkeyRefused();
  await markPasskeyUsed(tx, passkey.credentialId, use);
  return passkey;
};

export const listOwnPasskeys = (context: Pick<Context, 'db'>, person: SignedInPerson): Promise<PasskeyRow[]> =>
  listPasskeys(context.db, person.personId);

/** Whose passkey it will be. The person need not be there yet. */
type Bearer = Pick<SignedInPerson, 'personId' | 'email' | 'name'>;

export const offerRegistration = async (
  context: Context,
  { personId, email, name }: Bearer,
  known: readonly PasskeyRow[] = [],
): Promise<Record<string, unknown>> => {
  const challenge = await newChallenge(context, 'register', personId);
  return passkeyRegistration(relyingPartyOf(context.dashboard.url), challenge, { id: personId, email, name }, known);
};

export const beginPasskey = async (context: Context, person: SignedInPerson): Promise<Record<string, unknown>> =>
  offerRegistration(context, person, await listOwnPasskeys(context, person));

/** A passkey that was made for this person; its challenge is used up. */
export const verifyRegistration = async (
  context: Context,
  personId: string,
  response: PasskeyResponse,
): Promise<NewPasskey> => {
  const challenge = await spendChallenge(context, response, 'register', personId);
  const made = challenge && (await verifyNewPasskey(relyingPartyOf(context.dashboard.url), challenge, response));
  if (!made) throw invalid('response', 'This passkey could not be verified. Try again.');
  return made;
};

/** Stores a new passkey of a person, with what the audit log says about it. */
export const storePasskey = async (
  context: Pick<Context, 'ids' | 'clock'>,
  tx: Queryable,
  personId: string,
  made: NewPasskey,
  called: string,
  joinedAt: Date | null = null,
): Promise<{ row: PasskeyRow; deed: Deed }> => {
  const name = called.trim().slice(0, 100) || 'Passkey';
  const { id } = context.ids.next('passkey', context.clock.nowMs());
  const { credentialId, publicKey, counter, backedUp } = made;
  const transports = [...made.transports];
  const passkey = { personId, id, credentialId, publicKey, counter, transports, backedUp, name };
  const row = await insertPasskey(tx, passkey, joinedAt).catch(error => {
    if (!isUniqueViolation(error, 'passkeys_credential_id_key')) throw error;
    throw new FlorinError('conflict', 'This passkey is already registered.');
  });
  return { row, deed: { action: 'person.passkey_added', subject: id, detail: { name } } };
};

export const addPasskey = async (
  context: Context,
  person: SignedInPerson,
  given: { name: string; response: PasskeyResponse },
): Promise<AccountWork<PasskeyRow>> => {
  const { personId } = person;
  const made = await verifyRegistration(context, personId, given.response);
  return async tx => {
    await lockToChange(tx, person);
    if ((await listPasskeys(tx, personId)).length >= maxPasskeys) {
      throw new FlorinError('conflict', `You already have the maximum of ${maxPasskeys} passkeys. Remove one first.`);
    }
    const { row, deed } = await storePasskey(context, tx, personId, made, given.name);
    return { value: row, deed: null, followed: await inEveryAccount(tx, personId, deed) };
  };
};

export const removePasskey =
  (person: SignedInPerson, id: string): AccountWork<null> =>
  async tx => {
    const { personId } = person;
    const { passwordHash } = await lockToChange(tx, person);
    const name = await deletePasskey(tx, personId, id);
    if (name === null) throw new FlorinError('not_found', 'You have no passkey with this id.');
    // Counted after the lock is held: the locking statement itself counts before it waits for a removal beside it.
    if (passwordHash === null && (await listPasskeys(tx, personId)).length === 0) {
      throw new FlorinError('conflict', 'This is the only way you can sign in. Set a password or add a passkey first.');
    }
    const deed = { action: 'person.passkey_removed', subject: id, detail: { name } } as const;
    return { value: null, deed: null, followed: await inEveryAccount(tx, personId, deed) };
  };
