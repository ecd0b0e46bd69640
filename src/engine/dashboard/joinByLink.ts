import { FlorinError } from '../../core/errors.ts';
import { readAccount } from '../../storage/accounts.ts';
import { type AccessLink, findAccessLink, lockTeam, spendAccessLink } from '../../storage/dashboard/accessLinks.ts';
import { hasOwner, readPerson } from '../../storage/dashboard/people.ts';
import { hashToken } from '../../vault/tokens.ts';
import type { Context } from '../context.ts';
import { personActor, recordAudit } from './audit.ts';
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

/** Creates the person of a link and signs them in. */
export const joinByLink = async (
  context: Context,
  kind: AccessLink['kind'],
  given: { token: string; name: string; email: string | null; password: string },
  visit: Visit,
): Promise<NewSession> => {
  const link = await findLink(context, given.token, kind);
  const name = readName(given.name);
  const email = link.email ?? readEmail(given.email ?? '');
  const passwordHash = await acceptPassword(given.password, { email, name });
  return context.db.transaction(async tx => {
    await lockTeam(tx, link.accountId);
    const used = await spendAccessLink(tx, hashToken(given.token)!, kind);
    if (!used || (kind === 'setup' && (await hasOwner(tx, used.accountId)))) throw invalidLink();
    const { accountId, role } = used;
    const { id } = await addPerson(context, tx, { accountId, email, name, role, passwordHash });
    const entry = { accountId, environment: null, actor: personActor({ personId: id, name }), subject: id };
    const detail = { email, role, link: used.id };
    await recordAudit(context, tx, { ...entry, action: 'person.joined', detail, address: visit.address });
    return startSession(
      context,
      tx,
      (await readPerson(tx, accountId, id))!,
      visit,
      kind === 'setup' ? 'setup link' : 'invitation',
    );
  });
};
