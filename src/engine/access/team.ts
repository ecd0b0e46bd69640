import { establishedDays } from '../../core/access/ownerGuard.ts';
import { mayDo, type Role } from '../../core/access/rights.ts';
import { FlorinError } from '../../core/errors.ts';
import { type AccessLink, insertAccessLink, listInvitations, lockTeam } from '../../storage/access/accessLinks.ts';
import { readAccount } from '../../storage/access/accounts.ts';
import {
  type LockedOwner,
  lockMember,
  lockOwners,
  type MemberRow,
  readMember,
  updateRole,
} from '../../storage/access/memberships.ts';
import { findPersonByEmail } from '../../storage/access/people.ts';
import { endSessions } from '../../storage/access/sessions.ts';
import type { Queryable } from '../../storage/database.ts';
import { generateToken } from '../../vault/tokens.ts';
import type { Deed } from '../audit/acting.ts';
import { takeMessage } from '../audit/mailBudgets.ts';
import { enqueue } from '../audit/outbox.ts';
import type { Context } from '../context.ts';
import type { AccountWork } from '../perform.ts';
import { endMembership, type KeyFate, withdrawLinks } from './endMembership.ts';
import { readEmail } from './people.ts';
import type { SignedInPerson } from './sessions.ts';

const invitationSeconds = 7 * 86_400;
const maxInvitations = 100;

const noSuchMember = (): FlorinError => new FlorinError('not_found', 'No member of your team has this id.');
const noSuchInvitation = (): FlorinError => new FlorinError('not_found', 'No open invitation has this id.');

/** Only owners can add, change or remove owners. */
const refuseOwners = (person: SignedInPerson, ...touched: Role[]): void => {
  if (touched.includes('owner') && !mayDo(person.role, 'team.owners')) {
    throw new FlorinError('permission_denied', 'Only an owner can add, change or remove an owner.');
  }
};

/** Locks the manager's own row and reads the current role, which may have changed during the request. */
const lockManager = async (tx: Queryable, person: SignedInPerson): Promise<SignedInPerson> => {
  const self = await lockMember(tx, person.accountId, person.personId);
  if (!self || !mayDo(self.role, 'team.manage')) {
    throw new FlorinError('permission_denied', 'Your role no longer allows this.');
  }
  return { ...person, role: self.role };
};

const withdraw = async (
  tx: Queryable,
  person: SignedInPerson,
  by: { id?: string; email?: string; createdBy?: string },
): Promise<Deed[]> => {
  const { roles, deeds } = await withdrawLinks(tx, person.accountId, by);
  // A manager who may lower a person's role may also withdraw that person's invitations.
  if (by.createdBy === undefined) refuseOwners(person, ...roles);
  return deeds;
};

const isMember = async (tx: Queryable, accountId: string, email: string): Promise<boolean> => {
  const person = await findPersonByEmail(tx, email);
  return person !== null && (await readMember(tx, accountId, person.id)) !== null;
};

/** Whether an invitation is mailed. Whoever makes many sends the others' links in another way. */
const mayMail = async (
  context: Pick<Context, 'sendMail'>,
  tx: Queryable,
  { accountId, personId }: SignedInPerson,
  email: string,
): Promise<boolean> =>
  context.sendMail !== null &&
  (await takeMessage(tx, 'invitation', accountId)) &&
  (await takeMessage(tx, 'invitation', personId)) &&
  (await takeMessage(tx, 'invited', email));

export const invite =
  (
    context: Context,
    person: SignedInPerson,
    given: { email: string; role: Role },
  ): AccountWork<AccessLink & { email: string; link: string; isMailed: boolean }> =>
  async tx => {
    const email = readEmail(given.email);
    const { role } = given;
    const { accountId } = person;
    await lockTeam(tx, accountId);
    const self = await lockManager(tx, person);
    refuseOwners(self, role);
    if (await isMember(tx, accountId, email)) {
      throw new FlorinError('conflict', 'A member of your team already has this e-mail address.', 'email');
    }
    // One invitation per address: only the latest link works.
    const followed = await withdraw(tx, self, { email });
    if ((await listInvitations(tx, accountId)).length >= maxInvitations) {
      throw new FlorinError('conflict', `There are ${maxInvitations} open invitations. Withdraw some first.`);
    }
    const { token, hash } = generateToken();
    const { id } = context.ids.next('invitation', context.clock.nowMs());
    const row = await insertAccessLink(tx, {
      accountId,
      id,
      tokenHash: hash,
      kind: 'invitation',
      role,
      email,
      createdBy: person.personId,
      livesSeconds: invitationSeconds,
    });
    const link = `${context.dashboard.url}/dashboard/invitation#${token}`;
    const isMailed = await mayMail(context, tx, person, email);
    if (isMailed) {
      const accountName = (await readAccount(tx, accountId))?.name ?? '';
      const expiresAt = row.expiresAt.toISOString();
      const notice = { kind: 'invitation', accountName, invitedBy: person.name, link, expiresAt } as const;
      await enqueue(context, tx, [{ kind: 'minor_mail', to: email, notice }]);
    }
    return {
      value: { ...row, email, link, isMailed },
      deed: { action: 'invitation.created', subject: id, detail: { email, role } },
      followed,
    };
  };

export const withdrawInvitation =
  (person: SignedInPerson, id: string): AccountWork<null> =>
  async tx => {
    await lockTeam(tx, person.accountId);
    const [deed] = await withdraw(tx, await lockManager(tx, person), { id });
    if (!deed) throw noSuchInvitation();
    return { value: null, deed };
  };

const firstOf = (owners: readonly LockedOwner[]): LockedOwner | undefined =>
  owners.toSorted((a, b) => (a.since?.getTime() ?? Infinity) - (b.since?.getTime() ?? Infinity))[0];

/**
 * An owner whom a thief invited must not put out the owner whose session was stolen, nor must the thief in that owner's name.
 * So the last owner who has been one for long stays until there is another.
 */
const refuseLastOwner = (owners: readonly LockedOwner[], id: string): void => {
  const [last, ...others] = owners;
  if (last?.id === id && others.length === 0) {
    throw new FlorinError('conflict', 'An account must have an owner. Make another member an owner first.');
  }
  const established = owners.filter(({ isEstablished }) => isEstablished);
  // In a new account nobody has been one for long: then the first one stays.
  const needed = established.length === 0 ? [firstOf(owners)] : established;
  if (needed.length === 1 && needed[0]!.id === id) {
    const message = `No other owner has been one for ${establishedDays} days. Until then, only whoever runs Florin can remove this owner.`;
    throw new FlorinError('conflict', message);
  }
};

/** Locks a member whom the person may manage. Throws if the account would have no owner left. */
const lockManaged = async (
  tx: Queryable,
  person: SignedInPerson,
  id: string,
  becomes: Role | 'nobody',
): Promise<MemberRow> => {
  const { accountId } = person;
  await lockTeam(tx, accountId);
  const owners = await lockOwners(tx, accountId);
  const self = await lockManager(tx, person);
  const member = await lockMember(tx, accountId, id);
  if (!member) throw noSuchMember();
  refuseOwners(self, member.role, ...(becomes === 'nobody' ? [] : [becomes]));
  if (becomes !== 'owner') refuseLastOwner(owners, id);
  return member;
};

/** Ends the member's sessions in this account, whose pages were read with the old role. */
export const changeRole =
  (person: SignedInPerson, id: string, role: Role): AccountWork<MemberRow> =>
  async tx => {
    const member = await lockManaged(tx, person, id, role);
    const { accountId } = person;
    if (member.role === role) return { value: member, deed: null };
    await updateRole(tx, accountId, id, role);
    // One's own session goes on: it is what the next call is made with, and its role is read anew.
    const keptId = id === person.personId ? person.sessionId : null;
    await endSessions(tx, id, 'role_changed', { keptId, accountId });
    // What they could not invite to any more must not be open in their name.
    const followed = role === 'owner' ? [] : await withdraw(tx, person, { createdBy: id });
    const detail = { email: member.email, from: member.role, to: role };
    const value = (await readMember(tx, accountId, id))!;
    return { value, deed: { action: 'person.role_changed', subject: id, detail }, followed };
  };

/** Removes a member of the person's team. */
export const removeMember =
  (person: SignedInPerson, id: string, fate: KeyFate | undefined): AccountWork<null> =>
  async tx => {
    const { accountId } = person;
    const { name, email, role } = await lockManaged(tx, person, id, 'nobody');
    const ended = await endMembership(tx, { accountId, id, email, role }, fate, made => {
      const keys = `${made.length} API ${made.length === 1 ? 'key that still works' : 'keys that still work'}`;
      return new FlorinError('conflict', `${name} made ${keys}. Say whether to keep or revoke them.`, 'keys');
    });
    return { value: null, ...ended };
  };
