import { FlorinError } from '../../core/errors.ts';
import { type PersonRow, readPerson, updatePassword, updatePersonName } from '../../storage/access/people.ts';
import { endSessions } from '../../storage/access/sessions.ts';
import { personActor, recordAudit } from '../audit/audit.ts';
import type { Context } from '../context.ts';
import { acceptPassword, readName } from './people.ts';
import { lockSelf } from './secondFactors.ts';
import type { SignedInPerson } from './sessions.ts';

/** Ends all other sessions: someone who knew the old password may have opened them. */
export const changePassword = async (
  context: Context,
  person: SignedInPerson,
  password: string,
  address: string,
): Promise<void> => {
  const { accountId, personId } = person;
  const hash = await acceptPassword(password, person);
  await context.db.transaction(async tx => {
    await lockSelf(tx, person);
    await updatePassword(tx, accountId, personId, hash);
    const ended = await endSessions(tx, accountId, personId, person.sessionId, 'password_changed');
    const entry = { accountId, environment: null, actor: personActor(person), subject: personId, address };
    await recordAudit(context, tx, { ...entry, action: 'person.password_changed', detail: { sessionsEnded: ended } });
  });
};

export const rename = (
  context: Context,
  person: SignedInPerson,
  given: { name?: string | undefined },
  address: string,
): Promise<PersonRow> =>
  context.db.transaction(async tx => {
    const { accountId, personId } = person;
    const row = await lockSelf(tx, person);
    const name = given.name === undefined ? row.name : readName(given.name);
    if (name === row.name) return row;
    await updatePersonName(tx, accountId, personId, name);
    const entry = { accountId, environment: null, actor: personActor(person), subject: personId, address };
    await recordAudit(context, tx, { ...entry, action: 'person.renamed', detail: { from: row.name, to: name } });
    const renamed = await readPerson(tx, accountId, personId);
    if (!renamed) throw new FlorinError('unauthorized', 'Your session has ended. Sign in again.');
    return renamed;
  });
