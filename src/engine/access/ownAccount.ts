import { FlorinError } from '../../core/errors.ts';
import { type MemberRow, readMember } from '../../storage/access/memberships.ts';
import { updatePassword, updatePersonName } from '../../storage/access/people.ts';
import { endRecoveryLinks } from '../../storage/access/recoveryLinks.ts';
import { endSessions } from '../../storage/access/sessions.ts';
import type { AccountWork } from '../perform.ts';
import { inEveryAccount } from './inEveryAccount.ts';
import { acceptPassword, readName } from './people.ts';
import { lockSelf, lockToChange } from './secondFactors.ts';
import type { SignedInPerson } from './sessions.ts';

/** Ends all other sessions: someone who knew the old password may have opened them. */
export const changePassword = async (person: SignedInPerson, password: string): Promise<AccountWork<null>> => {
  const { personId, sessionId } = person;
  const hash = await acceptPassword(password, person);
  return async tx => {
    await lockToChange(tx, person);
    await updatePassword(tx, personId, hash);
    const sessionsEnded = await endSessions(tx, personId, 'password_changed', { keptId: sessionId });
    // Somebody who can change the password needs no link, and may not know who asked for one.
    await endRecoveryLinks(tx, personId);
    const deed = { action: 'person.password_changed', subject: personId, detail: { sessionsEnded } } as const;
    return { value: null, deed: null, followed: await inEveryAccount(tx, personId, deed) };
  };
};

export const rename =
  (person: SignedInPerson, given: { name?: string | undefined }): AccountWork<MemberRow> =>
  async tx => {
    const { accountId, personId } = person;
    const row = await lockSelf(tx, person);
    const name = given.name === undefined ? row.name : readName(given.name);
    const isSame = name === row.name;
    if (!isSame) await updatePersonName(tx, personId, name);
    const value = await readMember(tx, accountId, personId);
    if (!value) throw new FlorinError('unauthorized', 'Your session has ended. Sign in again.');
    const detail = { from: row.name, to: name };
    const deed = { action: 'person.renamed', subject: personId, detail } as const;
    return { value, deed: null, followed: isSame ? [] : await inEveryAccount(tx, personId, deed) };
  };
