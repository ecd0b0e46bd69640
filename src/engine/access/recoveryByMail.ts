import { FlorinError } from '../../core/errors.ts';
import type { Outgoing } from '../../core/outbox.ts';
import { findPersonByEmail, lockPerson } from '../../storage/access/people.ts';
import { hasOpenRecoveryLink } from '../../storage/access/recoveryLinks.ts';
import { readDeploymentValue } from '../../storage/deployment.ts';
import { systemActor } from '../audit/audit.ts';
import { enqueue } from '../audit/outbox.ts';
import type { Context } from '../context.ts';
import { perform } from '../perform.ts';
import { beginRecovery } from './lockOut.ts';
import { makeRecoveryLink } from './recovery.ts';
import type { SignInOrigin } from './signIn.ts';

/** Where people reach the dashboard. The process that serves it writes it down. */
export const dashboardUrlName = 'dashboard_url';

/**
 * Notes that somebody asked for a recovery link. It looks up nobody, so that neither the answer nor its timing tells
 * whether the address has a sign-in here. `answerRecovery` does the rest.
 */
export const askForRecovery = async (context: Context, given: string, origin: SignInOrigin): Promise<void> => {
  if (context.sendMail === null) throw new FlorinError('conflict', 'This Florin sends no e-mail. Ask whoever runs it.');
  const email = given.trim().normalize('NFC').toLowerCase();
  await beginRecovery(context, { email, addressKey: origin.addressKey });
  await context.db.transaction(tx => enqueue(context, tx, [{ kind: 'recovery', email, address: origin.address }]));
};

/**
 * Mails a recovery link to a person who has a sign-in, unless one is open already: a stranger who asks again must not
 * restart its wait. Whoever reads the mailbox must not get past a second factor at once, so that link waits too.
 */
export const answerRecovery = async (
  context: Context,
  { email, address }: Extract<Outgoing, { kind: 'recovery' }>,
): Promise<void> => {
  const found = await findPersonByEmail(context.db, email);
  const url = await readDeploymentValue(context.db, dashboardUrlName);
  if (!found || url === null) return;
  await perform(context, { scope: null, actor: systemActor, address }, null, async tx => {
    const nothing = { value: null, deed: null };
    const person = await lockPerson(tx, found.id);
    if (!person || (await hasOpenRecoveryLink(tx, person.id))) return nothing;
    const made = await makeRecoveryLink(tx, person, { mustWait: person.totpSecret !== null || person.passkeys > 0 });
    if (!made) return nothing;
    const { token, opensAt, expiresAt } = made.link;
    const times = { opensAt: opensAt.toISOString(), expiresAt: expiresAt.toISOString() };
    const notice = { kind: 'recovery', link: `${url}/dashboard/recovery#${token}`, ...times } as const;
    await enqueue(context, tx, [{ kind: 'mail', to: person.email, notice }]);
    return { ...nothing, followed: made.followed };
  });
};
