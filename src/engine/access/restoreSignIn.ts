import { findEarlierByEmail, restoreEarlier } from '../../storage/access/earlierSignIn.ts';
import { accountsOf } from '../../storage/access/memberships.ts';
import { endRecoveryLinks } from '../../storage/access/recoveryLinks.ts';
import { endSessions } from '../../storage/access/sessions.ts';
import type { Queryable } from '../../storage/database.ts';
import type { PasskeyResponse } from '../../vault/passkeys.ts';
import type { Deed } from '../audit/acting.ts';
import type { Context } from '../context.ts';
import { withdrawLinks } from './endMembership.ts';
import { inEveryAccount } from './inEveryAccount.ts';
import type { Visit } from './sessions.ts';
import {
  type Admission,
  lastAccountOf,
  type NewSession,
  proveByPasskey,
  proveByPassword,
  type SignInOrigin,
  startInLastAccount,
} from './signIn.ts';

/** The open invitations of a person, in each of their accounts. */
const withdrawAll = async (tx: Queryable, personId: string): Promise<Deed[]> => {
  const deeds: Deed[] = [];
  for (const { id: accountId } of await accountsOf(tx, personId)) {
    const withdrawn = await withdrawLinks(tx, accountId, { createdBy: personId });
    deeds.push(...withdrawn.deeds.map(deed => ({ ...deed, in: { accountId, environment: null } })));
  }
  return deeds;
};

/**
 * Signs a person in as before their sign-in was changed, and undoes the change: a thief who made it is out. The person says
 * that they want this. Somebody who typed the earlier password by mistake would undo their own change otherwise. The row is
 * restored before the proof is judged, so a proof is judged as always, and one that is refused restores nothing.
 */
const restoring = (context: Context, visit: Visit): Admission<NewSession> => ({
  find: findEarlierByEmail,
  lock: restoreEarlier,
  accountOf: person => lastAccountOf(context, person),
  async admit(tx, person, accountId, proof) {
    const sessionsEnded = await endSessions(tx, person.id, 'ended');
    await endRecoveryLinks(tx, person.id);
    const withdrawn = await withdrawAll(tx, person.id);
    const deed = { action: 'person.sign_in_restored', subject: person.id, detail: { sessionsEnded } } as const;
    const restored = await inEveryAccount(tx, person.id, deed);
    const { value, deed: signedIn } = await startInLastAccount(context, tx, person, accountId, visit, proof);
    return { value, deed: signedIn, followed: [...restored, ...withdrawn] };
  },
});

/** Null if the password is right and a code is still needed. */
export const restoreWithPassword = (
  context: Context,
  given: { readonly email: string; readonly password: string; readonly code?: string | undefined },
  origin: SignInOrigin,
): Promise<NewSession | null> => proveByPassword(context, given, origin, restoring(context, origin));

export const restoreWithPasskey = (context: Context, response: PasskeyResponse, visit: Visit): Promise<NewSession> =>
  proveByPasskey(context, response, visit, restoring(context, visit));
