import { FlorinError } from '../../core/errors.ts';
import { accountsOf, lockOwners } from '../../storage/access/memberships.ts';
import { findPersonByEmail, type PersonRow, readPerson, updatePassword } from '../../storage/access/people.ts';
import {
  findRecoveryLink,
  putRecoveryLink,
  type Recovery,
  spendRecoveryLink,
} from '../../storage/access/recoveryLinks.ts';
import { removeTotp } from '../../storage/access/secondFactors.ts';
import { endSessions } from '../../storage/access/sessions.ts';
import { generateToken, hashToken } from '../../vault/tokens.ts';
import { type Deed, memberActing, operatorActing } from '../audit/acting.ts';
import type { Context } from '../context.ts';
import { perform } from '../perform.ts';
import type { AdminContext } from './accounts.ts';
import { acceptPassword } from './people.ts';
import type { Visit } from './sessions.ts';
import { type NewSession, startSession } from './signIn.ts';

/** Another owner gets a day to object. */
const waitSeconds = 86_400;
const livesSeconds = 86_400;

export const findPerson = async ({ db }: Pick<Context, 'db'>, email: string): Promise<PersonRow> => {
  const person = await findPersonByEmail(db, email.trim().normalize('NFC').toLowerCase());
  if (!person) throw new FlorinError('not_found', `Nobody signs in with ${email}.`);
  return person;
};

/** The same line for the logs of several accounts. */
const inEach = (accountIds: readonly string[], deed: Deed): Deed[] =>
  accountIds.map(accountId => ({ ...deed, in: { accountId, environment: null } }));

export type NewRecoveryLink = {
  readonly person: PersonRow;
  readonly token: string;
  readonly opensAt: Date;
  readonly expiresAt: Date;
  readonly hasToWait: boolean;
};

/**
 * Creates a link by which a person who cannot sign in any more sets a new password. It waits a day if one of their
 * accounts has another owner, and all its members are told.
 */
export const createRecoveryLink = async (context: AdminContext, email: string): Promise<NewRecoveryLink> => {
  const person = await findPerson(context, email);
  return perform(context, operatorActing(null), null, async tx => {
    const accounts = await accountsOf(tx, person.id);
    if (accounts.length === 0) throw new FlorinError('conflict', `${email} is not a member of any account.`);
    let hasToWait = false;
    for (const { id } of accounts.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      const owners = await lockOwners(tx, id);
      hasToWait ||= owners.some(owner => owner !== person.id);
    }
    const { token, hash } = generateToken();
    const times = await putRecoveryLink(tx, {
      tokenHash: hash,
      personId: person.id,
      waitSeconds: hasToWait ? waitSeconds : 0,
      livesSeconds,
    });
    const detail = { email: person.email, opensAt: times.opensAt.toISOString() };
    const deed = { action: 'person.recovery_link_created', subject: person.id, detail } as const;
    const ids = accounts.map(({ id }) => id);
    return { value: { person, token, ...times, hasToWait }, deed: null, followed: inEach(ids, deed) };
  });
};

const invalidLink = (): FlorinError =>
  new FlorinError('not_found', 'This link is not valid: it was used, replaced, or has expired.', 'token');

export const checkRecovery = async (context: Pick<Context, 'db'>, token: string): Promise<Recovery> => {
  const hash = hashToken(token);
  const link = hash && (await findRecoveryLink(context.db, hash));
  if (!link) throw invalidLink();
  return link;
};

/** Sets a new password, turns the authenticator app off, ends all sessions, and signs the person in. */
export const recover = async (
  context: Context,
  given: { readonly token: string; readonly password: string },
  visit: Visit,
): Promise<NewSession> => {
  const link = await checkRecovery(context, given.token);
  const passwordHash = await acceptPassword(given.password, link);
  const accounts = await accountsOf(context.db, link.personId);
  const [account] = accounts;
  if (!account) throw invalidLink();
  return perform(context, memberActing({ ...link, accountId: account.id }, visit.address), null, async tx => {
    const personId = await spendRecoveryLink(tx, hashToken(given.token)!);
    const person = personId === null ? null : await readPerson(tx, personId);
    if (!person) throw new FlorinError('not_found', 'This link is not open yet, or was used meanwhile.', 'token');
    await updatePassword(tx, person.id, passwordHash);
    await removeTotp(tx, person.id);
    const sessionsEnded = await endSessions(tx, person.id, 'password_changed');
    const deed = { action: 'person.recovered', subject: person.id, detail: { sessionsEnded } } as const;
    const member = { person, accountId: account.id, role: account.role };
    const { session, deed: signedIn } = await startSession(context, tx, member, visit, 'recovery link');
    const ids = accounts.map(({ id }) => id);
    return { value: session, deed: signedIn, followed: inEach(ids, deed) };
  });
};
