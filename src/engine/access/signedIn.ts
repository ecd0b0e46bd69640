import { actionsOf } from '../../core/access/rights.ts';
import type { Person, SignedIn } from '../../core/api/sessionApi.ts';
import { FlorinError } from '../../core/errors.ts';
import { readAccount } from '../../storage/access/accounts.ts';
import { readEarlierUntil } from '../../storage/access/earlierSignIn.ts';
import { accountsOf, hasSecuredMember, type MemberRow, readMember } from '../../storage/access/memberships.ts';
import type { Context } from '../context.ts';
import type { SignedInPerson } from './sessions.ts';

export const personObject = (row: MemberRow): Person => ({
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role,
  hasPassword: row.passwordHash !== null,
  hasTotp: row.totpSecret !== null,
  passkeys: row.passkeys,
  recoveryCodesLeft: row.recoveryCodesLeft,
});

/** The signed-in user, as the app needs it. */
export const describeSignedIn = async (context: Context, session: SignedInPerson): Promise<SignedIn> => {
  const { accountId, personId, provenUntil } = session;
  const [person, account, accounts, isSecured, earlierUntil] = await Promise.all([
    readMember(context.db, accountId, personId),
    readAccount(context.db, accountId),
    accountsOf(context.db, personId),
    hasSecuredMember(context.db, accountId),
    readEarlierUntil(context.db, personId),
  ]);
  if (!person || !account) throw new FlorinError('unauthorized', 'Your session has ended. Sign in again.');
  const { sandbox, production } = context.environments;
  return {
    state: 'signed-in',
    person: personObject(person),
    account: { id: account.id, name: account.name, plan: account.plan },
    accounts: accounts.map(({ id, name, role }) => ({ id, name, role })),
    mayAddAccounts: context.dashboard.mayAddAccounts,
    sendsMail: context.sendMail !== null,
    actions: actionsOf(person.role),
    provenUntil: provenUntil?.toISOString() ?? null,
    urls: { sandbox: sandbox.publicUrl, production: production.publicUrl },
    needsSecondFactor: !isSecured,
    earlierSignInUntil: earlierUntil?.toISOString() ?? null,
  };
};
