import { FlorinError, invalid } from '../../core/errors.ts';
import { idPrefixes } from '../../core/ids.ts';
import { type AccessLink, findAccessLink, lockTeam, spendAccessLink } from '../../storage/access/accessLinks.ts';
import { readAccount } from '../../storage/access/accounts.ts';
import { hasOwner, readPerson } from '../../storage/access/people.ts';
import type { NewPasskey, PasskeyResponse } from '../../vault/passkeys.ts';
import { hashToken } from '../../vault/tokens.ts';
import { personActor, recordAudit } from '../audit/audit.ts';
import type { Context } from '../context.ts';
import { offerRegistration, storePasskey, verifyRegistration } from './passkeys.ts';
import { acceptPassword, addPerson, readEmail, readName } from './people.ts';
import type { Visit } from './sessions.ts';
import { type NewSession, startSession } from './signIn.ts';

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

/** Makes the person of a link, who is signed in from then on. */
export const joinByLink = async (
  context: Context,
  kind: Kind,
  given: Named & { readonly password?: string | undefined; readonly passkey?: PasskeyResponse | undefined },
  visit: Visit,
): Promise<NewSession> => {
  const link = await findLink(context, given.token, kind);
  const { name, email } = nameOf(link, given);
  const { passwordHash, passkey } = await readProofs(context, link, { name, email }, given);
  return context.db.transaction(async tx => {
    await lockTeam(tx, link.accountId);
    const used = await spendAccessLink(tx, hashToken(given.token)!, kind);
    if (!used || (kind === 'setup' && (await hasOwner(tx, used.accountId)))) throw invalidLink();
    const { accountId, role } = used;
    const { id } = await addPerson(context, tx, { accountId, email, name, role, passwordHash }, personIdOf(used));
    const entry = { accountId, environment: null, actor: personActor({ personId: id, name }), subject: id };
    const detail = { email, role, link: used.id };
    await recordAudit(context, tx, { ...entry, action: 'person.joined', detail, address: visit.address });
    if (passkey) {
      const called = { name: visit.device, address: visit.address };
      await storePasskey(context, tx, { accountId, personId: id, name }, passkey, called);
    }
    return startSession(
      context,
      tx,
      (await readPerson(tx, accountId, id))!,
      visit,
      kind === 'setup' ? 'setup link' : 'invitation',
    );
  });
};
