import { FlorinError, invalid } from '../../core/errors.ts';
import { idPrefixes } from '../../core/ids.ts';
import {
  type AccessLink,
  findAccessLink,
  isLinkEnded,
  lockTeam,
  spendAccessLink,
} from '../../storage/access/accessLinks.ts';
import { readAccount } from '../../storage/access/accounts.ts';
import { hasOwner, putMembership } from '../../storage/access/memberships.ts';
import { type PersonRow, readPerson } from '../../storage/access/people.ts';
import { endRecoveryLinks } from '../../storage/access/recoveryLinks.ts';
import { endSessions } from '../../storage/access/sessions.ts';
import type { Queryable } from '../../storage/database.ts';
import type { NewPasskey, PasskeyResponse } from '../../vault/passkeys.ts';
import { hashToken } from '../../vault/tokens.ts';
import { type Deed, memberActing } from '../audit/acting.ts';
import type { Context } from '../context.ts';
import { type Done, perform } from '../perform.ts';
import { offerRegistration, storePasskey, verifyRegistration } from './passkeys.ts';
import { acceptPassword, addPerson, readEmail, readName } from './people.ts';
import type { Visit } from './sessions.ts';
import {
  type Admission,
  type NewSession,
  type Proof,
  proveByPasskey,
  proveByPassword,
  type SignInOrigin,
  startSession,
} from './signIn.ts';

const invalidLink = (): FlorinError =>
  new FlorinError(
    'not_found',
    'This link is not valid: it was used, has expired, or was never created. Ask for a new one.',
    'token',
  );

const findLink = async (context: Context, token: string, kind: AccessLink['kind']): Promise<AccessLink> => {
  const hash = hashToken(token);
  const link = hash && (await findAccessLink(context.db, hash, kind));
  if (!link || (kind === 'setup' && (await hasOwner(context.db, link.accountId)))) throw invalidLink();
  return link;
};

export const checkLink = async (
  context: Context,
  token: string,
  kind: AccessLink['kind'],
): Promise<AccessLink & { accountName: string }> => {
  const link = await findLink(context, token, kind);
  const account = await readAccount(context.db, link.accountId);
  if (!account) throw invalidLink();
  return { ...link, accountName: account.name };
};

/**
 * The person that a link will make. A passkey names its person when it is made, which is before the person is: the id follows
 * from the link, which makes one person at most.
 */
const personIdOf = ({ id }: Pick<AccessLink, 'id'>): string =>
  idPrefixes.person + id.slice(idPrefixes.invitation.length);

type Kind = AccessLink['kind'];
type Named = { readonly token: string; readonly name: string; readonly email: string | null };

const nameOf = (link: AccessLink, given: Named): { name: string; email: string } => ({
  name: readName(given.name),
  email: link.email ?? readEmail(given.email ?? ''),
});

/** What a device needs to make the passkey that the person will join with. */
export const offerPasskeyByLink = async (
  context: Context,
  kind: Kind,
  given: Named,
): Promise<Record<string, unknown>> => {
  const link = await findLink(context, given.token, kind);
  return offerRegistration(context, { personId: personIdOf(link), ...nameOf(link, given) });
};

type Proofs = { readonly passwordHash: string | null; readonly passkey: NewPasskey | null };

const readProofs = async (
  context: Context,
  link: AccessLink,
  person: { name: string; email: string },
  given: { password?: string | undefined; passkey?: PasskeyResponse | undefined },
): Promise<Proofs> => {
  if (given.password === undefined && given.passkey === undefined)
    throw invalid('password', 'Choose a password, a passkey, or both.');
  return {
    passwordHash: given.password === undefined ? null : await acceptPassword(given.password, person),
    passkey: given.passkey === undefined ? null : await verifyRegistration(context, personIdOf(link), given.passkey),
  };
};

/** Uses the link up, in the transaction that makes the member. */
const spendLink = async (tx: Queryable, token: string, { accountId, kind }: AccessLink): Promise<AccessLink> => {
  await lockTeam(tx, accountId);
  const used = await spendAccessLink(tx, hashToken(token)!, kind);
  if (!used || (kind === 'setup' && (await hasOwner(tx, accountId))) || (await isLinkEnded(tx, used)))
    throw invalidLink();
  return used;
};

const joined = (personId: string, email: string, { role, id }: AccessLink): Deed => ({
  action: 'person.joined',
  subject: personId,
  detail: { email, role, link: id },
});

/** Makes the person of a link, who is signed in from then on. */
export const joinByLink = async (
  context: Context,
  kind: Kind,
  given: Named & { readonly password?: string | undefined; readonly passkey?: PasskeyResponse | undefined },
  visit: Visit,
): Promise<NewSession> => {
  const link = await findLink(context, given.token, kind);
  const { accountId } = link;
  const { name, email } = nameOf(link, given);
  const { passwordHash, passkey } = await readProofs(context, link, { name, email }, given);
  const personId = personIdOf(link);
  const member = memberActing({ accountId, personId, name, email }, visit.address);
  return perform(context, { ...member, isOperatorsLink: kind === 'setup' }, null, async tx => {
    const used = await spendLink(tx, given.token, link);
    const { createdAt } = await addPerson(
      context,
      tx,
      { accountId, email, name, role: used.role, passwordHash },
      personId,
    );
    const followed = [joined(personId, email, used)];
    if (passkey) followed.push((await storePasskey(context, tx, personId, passkey, visit.device, createdAt)).deed);
    const made = { person: (await readPerson(tx, personId))!, accountId, role: used.role };
    // Whoever has just made a passkey has shown that they have it.
    const proof = { method: kind === 'setup' ? 'setup link' : 'invitation', isStrong: passkey !== null };
    const { session, deed } = await startSession(context, tx, made, visit, proof);
    return { value: session, deed, followed };
  });
};

/** An invitation of somebody who can sign in already: their proof makes them a member. */
const joining = (context: Context, token: string, link: AccessLink, visit: Visit): Admission<NewSession> => ({
  accountOf: async ({ email }) => {
    if (email !== link.email) throw invalidLink();
    return link.accountId;
  },
  async admit(tx: Queryable, person: PersonRow, accountId: string, proof: Proof): Promise<Done<NewSession>> {
    const { role, ...used } = await spendLink(tx, token, link);
    // Sessions and recovery links of before were made for other rights.
    await endSessions(tx, person.id, 'removed', { accountId });
    await endRecoveryLinks(tx, person.id);
    if (!(await putMembership(tx, accountId, person.id, role))) {
      throw new FlorinError('conflict', 'You are a member of this account already. Sign in.');
    }
    const { session, deed } = await startSession(context, tx, { person, accountId, role }, visit, proof);
    return { value: session, deed, followed: [joined(person.id, person.email, { role, ...used })] };
  },
});

/** Null if the password is right and a code is still needed. */
export const joinWithPassword = async (
  context: Context,
  given: { readonly token: string; readonly password: string; readonly code?: string | undefined },
  origin: SignInOrigin,
): Promise<NewSession | null> => {
  const link = await findLink(context, given.token, 'invitation');
  return proveByPassword(
    context,
    { ...given, email: link.email! },
    origin,
    joining(context, given.token, link, origin),
  );
};

export const joinWithPasskey = async (
  context: Context,
  given: { readonly token: string; readonly response: PasskeyResponse },
  visit: Visit,
): Promise<NewSession> => {
  const link = await findLink(context, given.token, 'invitation');
  return proveByPasskey(context, given.response, visit, joining(context, given.token, link, visit));
};
