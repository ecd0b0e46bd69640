import { FlorinError } from '../../core/errors.ts';
import { forgetEarlier } from '../../storage/access/earlierSignIn.ts';
import { accountsOf, lockOwners } from '../../storage/access/memberships.ts';
import { deletePasskeys } from '../../storage/access/passkeys.ts';
import { findPersonByEmail, lockPerson, type PersonRow, updatePassword } from '../../storage/access/people.ts';
import {
  findRecoveryLink,
  putRecoveryLink,
  type Recovery,
  spendRecoveryLink,
} from '../../storage/access/recoveryLinks.ts';
import { removeTotp } from '../../storage/access/secondFactors.ts';
import { endSessions } from '../../storage/access/sessions.ts';
import type { Queryable } from '../../storage/database.ts';
import { generateToken, hashToken } from '../../vault/tokens.ts';
import { type Deed, operatorActing } from '../audit/acting.ts';
import { personActor } from '../audit/audit.ts';
import type { Context } from '../context.ts';
import { perform } from '../perform.ts';
import type { AdminContext } from './accounts.ts';
import { inEveryAccount } from './inEveryAccount.ts';
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

export type NewRecoveryLink = {
  readonly person: PersonRow;
  readonly token: string;
  readonly opensAt: Date;
  readonly expiresAt: Date;
  readonly hasToWait: boolean;
};

/**
 * Makes the link, which waits a day if one of the person's accounts has another owner, or `byMail.mustWait`. All members of their
 * accounts are told. One of the operator ends the earlier sign-in at once. Null if the person is not a member of any account.
 */
export const makeRecoveryLink = async (
  tx: Queryable,
  person: PersonRow,
  byMail: { readonly mustWait: boolean } | null = null,
): Promise<{ link: NewRecoveryLink; followed: Deed[] } | null> => {
  const accounts = await accountsOf(tx, person.id);
  if (accounts.length === 0) return null;
  // The operator makes one also after a theft: what the thief has must not end the link.
  if (byMail === null) await forgetEarlier(tx, person.id);
  let hasToWait = byMail?.mustWait ?? false;
  for (const { id } of accounts.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const owners = await lockOwners(tx, id);
    hasToWait ||= owners.some(owner => owner.id !== person.id);
  }
  const { token, hash } = generateToken();
  const times = await putRecoveryLink(tx, {
    tokenHash: hash,
    personId: person.id,
    waitSeconds: hasToWait ? waitSeconds : 0,
    livesSeconds,
    byMail: byMail !== null,
  });
  const detail = { email: person.email, opensAt: times.opensAt.toISOString() };
  const deed = { action: 'person.recovery_link_created', subject: person.id, detail } as const;
  return { link: { person, token, ...times, hasToWait }, followed: await inEveryAccount(tx, person.id, deed) };
};

/** Creates a link by which a person who cannot sign in any more sets a new password. The operator hands it over. */
export const createRecoveryLink = async (context: AdminContext, email: string): Promise<NewRecoveryLink> => {
  const person = await findPerson(context, email);
  return perform(context, operatorActing(null), null, async tx => {
    await lockPerson(tx, person.id);
    const made = await makeRecoveryLink(tx, person);
    if (!made) throw new FlorinError('conflict', `${email} is not a member of any account.`);
    return { value: made.link, deed: null, followed: made.followed };
  });
};

const invalidLink = (): FlorinError =>
  new FlorinError('not_found', 'This link is not valid: it was used, replaced, or has expired.', 'token');

const notOpen = ({ opensAt }: Recovery): FlorinError =>
  new FlorinError(
    'not_found',
    `This link opens at ${opensAt.toISOString()}. If that is over, it was used: ask for a new one.`,
    'token',
  );

export const checkRecovery = async (context: Pick<Context, 'db'>, token: string): Promise<Recovery> => {
  const hash = hashToken(token);
  const link = hash && (await findRecoveryLink(context.db, hash));
  if (!link) throw invalidLink();
  return link;
};

/**
 * Sets a new password, removes the authenticator app and all passkeys, ends all sessions, and signs the person in. Who had
 * the lost device, or joined in the person's name, can no longer sign in.
 */
export const recover = async (
  context: Context,
  given: { readonly token: string; readonly password: string },
  visit: Visit,
): Promise<NewSession> => {
  const link = await checkRecovery(context, given.token);
  const passwordHash = await acceptPassword(given.password, link);
  const actor = personActor(link);
  const acting = { scope: null, actor, address: visit.address, isOperatorsLink: !link.byMail };
  return perform(context, acting, null, async tx => {
    const person = await lockPerson(tx, link.personId);
    const [account] = person ? await accountsOf(tx, person.id) : [];
    if (!person || !account) throw notOpen(link);
    if (!(await spendRecoveryLink(tx, person.id, hashToken(given.token)!))) throw notOpen(link);
    // Also what the person had earlier was lost, or known to others.
    await forgetEarlier(tx, person.id);
    await updatePassword(tx, person.id, passwordHash);
    await removeTotp(tx, person.id);
    const passkeysRemoved = await deletePasskeys(tx, person.id);
    const sessionsEnded = await endSessions(tx, person.id, 'password_changed');
    const detail = { sessionsEnded, passkeysRemoved };
    const deed = { action: 'person.recovered', subject: person.id, detail } as const;
    const member = { person, accountId: account.id, role: account.role };
    const { session, deed: signedIn } = await startSession(context, tx, member, visit, {
      method: 'recovery link',
      isStrong: false,
    });
    const scope = { accountId: account.id, environment: null };
    const followed = [...(await inEveryAccount(tx, person.id, deed)), { ...signedIn, in: scope }];
    return { value: session, deed: null, followed };
  });
};
