import { mayDo, type Role } from '../../core/access/rights.ts';
import type { AuditAction } from '../../core/auditActions.ts';
import { FlorinError } from '../../core/errors.ts';
import {
  type AccessLink,
  insertAccessLink,
  listInvitations,
  lockTeam,
  withdrawInvitations,
} from '../../storage/access/accessLinks.ts';
import {
  findPersonByEmail,
  lockOwners,
  lockPerson,
  type PersonRow,
  readPerson,
  removePerson,
  updateRole,
} from '../../storage/access/people.ts';
import { endSessions } from '../../storage/access/sessions.ts';
import type { Queryable } from '../../storage/database.ts';
import { generateToken } from '../../vault/tokens.ts';
import { entryBy, recordAudit } from '../audit/audit.ts';
import type { Context } from '../context.ts';
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

const recordChange = (
  context: Pick<Context, 'vault'>,
  tx: Queryable,
  person: SignedInPerson,
  { address, ...done }: { action: AuditAction; subject: string; detail: Record<string, unknown>; address: string },
): Promise<void> => recordAudit(context, tx, entryBy({ person, address }, null, done));

/** Locks the manager's own row and reads the current role, which may have changed during the request. */
const lockManager = async (tx: Queryable, person: SignedInPerson): Promise<SignedInPerson> => {
  const self = await lockPerson(tx, person.accountId, person.personId);
  if (!self || !mayDo(self.role, 'team.manage')) {
    throw new FlorinError('permission_denied', 'Your role no longer allows this.');
  }
  return { ...person, role: self.role };
};

/** Invalidates the links of these invitations, each with an audit row. */
const withdraw = async (
  context: Context,
  tx: Queryable,
  person: SignedInPerson,
  by: { id?: string; email?: string; createdBy?: string },
  address: string,
): Promise<AccessLink[]> => {
  const gone = await withdrawInvitations(tx, person.accountId, by);
  // A manager who may remove a person may also withdraw that person's invitations.
  if (by.createdBy === undefined) refuseOwners(person, ...gone.map(link => link.role));
  for (const { id, email, role } of gone) {
    await recordChange(context, tx, person, {
      action: 'invitation.withdrawn',
      subject: id,
      detail: { email, role },
      address,
    });
  }
  return gone;
};

/**
 * Also accepts an e-mail address of another account, and refuses it only when the invitation is used: the inviter must
 * not learn who else uses it.
 */
export const invite = (
  context: Context,
  person: SignedInPerson,
  given: { email: string; role: Role },
  address: string,
): Promise<AccessLink & { email: string; link: string }> => {
  const email = readEmail(given.email);
  const { role } = given;
  const { accountId } = person;
  return context.db.transaction(async tx => {
    await lockTeam(tx, accountId);
    const self = await lockManager(tx, person);
    refuseOwners(self, role);
    if ((await findPersonByEmail(tx, email))?.accountId === accountId) {
      throw new FlorinError('conflict', 'A member of your team already has this e-mail address.', 'email');
    }
    // One invitation per address: only the latest link works.
    await withdraw(context, tx, self, { email }, address);
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
    await recordChange(context, tx, person, {
      action: 'invitation.created',
      subject: id,
      detail: { email, role },
      address,
    });
    return { ...row, email, link: `${context.dashboard.url}/dashboard/invitation#${token}` };
  });
};

export const withdrawInvitation = (
  context: Context,
  person: SignedInPerson,
  id: string,
  address: string,
): Promise<void> =>
  context.db.transaction(async tx => {
    await lockTeam(tx, person.accountId);
    const self = await lockManager(tx, person);
    if ((await withdraw(context, tx, self, { id }, address)).length === 0) throw noSuchInvitation();
  });

/** Locks the member. Throws if the account would have no owner left. */
const lockMember = async (
  tx: Queryable,
  person: SignedInPerson,
  id: string,
  becomes: Role | 'nobody',
): Promise<PersonRow> => {
  const { accountId } = person;
  await lockTeam(tx, accountId);
  const owners = await lockOwners(tx, accountId);
  const self = await lockManager(tx, person);
  const member = await lockPerson(tx, accountId, id);
  if (!member) throw noSuchMember();
  refuseOwners(self, member.role, ...(becomes === 'nobody' ? [] : [becomes]));
  if (becomes !== 'owner' && owners.length === 1 && owners[0] === id) {
    throw new FlorinError('conflict', 'An account must have an owner. Make another member an owner first.');
  }
  return member;
};

/** Ends the member's sessions, whose pages were read with the old role. */
export const changeRole = (
  context: Context,
  person: SignedInPerson,
  id: string,
  role: Role,
  address: string,
): Promise<PersonRow> =>
  context.db.transaction(async tx => {
    const member = await lockMember(tx, person, id, role);
    const { accountId } = person;
    if (member.role === role) return member;
    await updateRole(tx, accountId, id, role);
    // One's own session goes on: it is what the next call is made with, and its role is read anew.
    const kept = id === person.personId ? person.sessionId : null;
    await endSessions(tx, accountId, id, kept, 'role_changed');
    // What they could not invite to any more must not be open in their name.
    if (role !== 'owner') await withdraw(context, tx, person, { createdBy: id }, address);
    const detail = { email: member.email, from: member.role, to: role };
    await recordChange(context, tx, person, { action: 'person.role_changed', subject: id, detail, address });
    return (await readPerson(tx, accountId, id))!;
  });

export const removeMember = (context: Context, person: SignedInPerson, id: string, address: string): Promise<void> =>
  context.db.transaction(async tx => {
    const member = await lockMember(tx, person, id, 'nobody');
    await endSessions(tx, person.accountId, id, null, 'removed');
    await removePerson(tx, person.accountId, id);
    await withdraw(context, tx, person, { createdBy: id }, address);
    const detail = { email: member.email, role: member.role };
    await recordChange(context, tx, person, { action: 'person.removed', subject: id, detail, address });
  });
