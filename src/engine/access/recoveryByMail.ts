import { FlorinError } from '../../core/errors.ts';
import type { Outgoing } from '../../core/outbox.ts';
import { hadSecondFactor } from '../../storage/access/earlierSignIn.ts';
import { findPersonByEmail, lockPerson } from '../../storage/access/people.ts';
import { findOpenRecoveryHash } from '../../storage/access/recoveryLinks.ts';
import type { Queryable } from '../../storage/database.ts';
import { deleteOutgoing } from '../../storage/outbox.ts';
import { hashToken } from '../../vault/tokens.ts';
import { systemActor } from '../audit/audit.ts';
import { enqueue, enqueueAs } from '../audit/outbox.ts';
import type { Context } from '../context.ts';
import { perform } from '../perform.ts';
import { readDashboardUrl } from './dashboardUrl.ts';
import { beginRecovery } from './lockOut.ts';
import { makeRecoveryLink } from './recovery.ts';
import type { SignInOrigin } from './signIn.ts';

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

/** Of the mail with a link. The hash says nothing of the link's secret. */
const mailIdOf = (tokenHash: Buffer): string => `out_recovery_${tokenHash.toString('hex')}`;

/** Whether the person has a link that works, or will. Where its mail was not sent, nobody has it: that mail is dropped. */
const hasLink = async (tx: Queryable, personId: string): Promise<boolean> => {
  const hash = await findOpenRecoveryHash(tx, personId);
  return hash !== null && !(await deleteOutgoing(tx, mailIdOf(hash)));
};

/**
 * Mails a recovery link to a person who has a sign-in, unless they have one already: a stranger who asks again must not
 * restart its wait. Whoever reads the mailbox must not get past a second factor at once, also not past one that was removed a
 * moment ago, so that link waits too.
 */
export const answerRecovery = async (
  context: Context,
  { email, address }: Extract<Outgoing, { kind: 'recovery' }>,
): Promise<void> => {
  const found = await findPersonByEmail(context.db, email);
  const url = await readDashboardUrl(context);
  if (!found || url === null) return;
  await perform(context, { scope: null, actor: systemActor, address }, null, async tx => {
    const nothing = { value: null, deed: null };
    const person = await lockPerson(tx, found.id);
    if (!person || (await hasLink(tx, person.id))) return nothing;
    const mustWait = person.totpSecret !== null || person.passkeys > 0 || (await hadSecondFactor(tx, person.id));
    const made = await makeRecoveryLink(tx, person, { mustWait });
    if (!made) return nothing;
    const { token, opensAt, expiresAt } = made.link;
    const times = { opensAt: opensAt.toISOString(), expiresAt: expiresAt.toISOString() };
    const notice = { kind: 'recovery', link: `${url}/dashboard/recovery#${token}`, ...times } as const;
    await enqueueAs(context, tx, mailIdOf(hashToken(token)!), { kind: 'mail', to: person.email, notice });
    return { ...nothing, followed: made.followed };
  });
};
