import { FlorinError } from '../../core/errors.ts';
import { lockTeam, withdrawInvitations } from '../../storage/access/accessLinks.ts';
import { listMadeKeys, revokeKey } from '../../storage/access/keys.ts';
import { accountsOf, lockOwners, type OwnAccount, removeMembership } from '../../storage/access/memberships.ts';
import { lockPerson, removePerson as removeRow } from '../../storage/access/people.ts';
import { endSessions } from '../../storage/access/sessions.ts';
import type { Queryable } from '../../storage/database.ts';
import { type Deed, operatorActing } from '../audit/acting.ts';
import { perform } from '../perform.ts';
import type { AdminContext } from './accounts.ts';
import { findPerson } from './recovery.ts';
import type { KeyFate } from './team.ts';

type Removal = {
  readonly accountId: string | null;
  readonly keys: KeyFate | undefined;
  readonly evenLastOwner: boolean;
};

const refuseLastOwner = async (tx: Queryable, personId: string, { id, name }: OwnAccount): Promise<void> => {
  const owners = await lockOwners(tx, id);
  if (owners.length !== 1 || owners[0] !== personId) return;
  throw new FlorinError(
    'conflict',
    `They are the only owner of ${name} (${id}). Invite another owner first, or use --last-owner and then florin setup-link.`,
  );
};

/** Revokes or keeps the keys that the person made in an account. Returns what the audit log says. */
const settleKeys = async (
  tx: Queryable,
  personId: string,
  { id, name }: OwnAccount,
  fate: KeyFate | undefined,
): Promise<{ deeds: Deed[]; kept: number }> => {
  const made = await listMadeKeys(tx, id, personId);
  if (made.length > 0 && fate === undefined) {
    const list = made.map(key => `${key.id} (${key.name}, ${key.environment})`).join(', ');
    throw new FlorinError(
      'conflict',
      `They made keys in ${name} that still work: ${list}. Use --keys keep or --keys revoke.`,
    );
  }
  if (fate !== 'revoke') return { deeds: [], kept: made.length };
  const deeds: Deed[] = [];
  for (const { id: key, name: called, hint, environment } of made) {
    await revokeKey(tx, key);
    deeds.push({
      action: 'key.revoked',
      subject: key,
      detail: { name: called, hint },
      in: { accountId: id, environment },
    });
  }
  return { deeds, kept: 0 };
};

/**
 * For the operator: removes a person from one account, or from all of them together with what they sign in with.
 * Returns the accounts.
 */
export const removePerson = async (
  context: AdminContext,
  email: string,
  { accountId, keys, evenLastOwner }: Removal,
): Promise<readonly OwnAccount[]> => {
  const found = await findPerson(context, email);
  return perform(context, operatorActing(null), null, async tx => {
    await lockPerson(tx, found.id);
    const all = (await accountsOf(tx, found.id)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const accounts = accountId === null ? all : all.filter(({ id }) => id === accountId);
    if (accountId !== null && accounts.length === 0)
      throw new FlorinError('not_found', `${email} is not a member of ${accountId}.`);
    for (const account of accounts) await lockTeam(tx, account.id);
    const followed: Deed[] = [];
    for (const account of accounts) {
      if (!evenLastOwner) await refuseLastOwner(tx, found.id, account);
      const { deeds: revoked, kept } = await settleKeys(tx, found.id, account, keys);
      const withdrawn = await withdrawInvitations(tx, account.id, { createdBy: found.id });
      await endSessions(tx, found.id, 'removed', { accountId: account.id });
      await removeMembership(tx, account.id, found.id);
      const deeds: Deed[] = [
        ...revoked,
        ...withdrawn.map(
          ({ id, email: to, role }) =>
            ({ action: 'invitation.withdrawn', subject: id, detail: { email: to, role } }) as const,
        ),
        {
          action: 'person.removed',
          subject: found.id,
          detail: { email: found.email, role: account.role, keysKept: kept },
        },
      ];
      followed.push(...deeds.map(deed => ({ in: { accountId: account.id, environment: null }, ...deed })));
    }
    if (accountId === null) await removeRow(tx, found.id);
    return { value: accounts, deed: null, followed };
  });
};
