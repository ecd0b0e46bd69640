import { FlorinError } from '../../core/errors.ts';
import { lockTeam } from '../../storage/access/accessLinks.ts';
import { accountsOf, lockOwners, type OwnAccount } from '../../storage/access/memberships.ts';
import { lockPerson, removePerson as removeRow } from '../../storage/access/people.ts';
import type { Queryable } from '../../storage/database.ts';
import { type Deed, operatorActing } from '../audit/acting.ts';
import { perform } from '../perform.ts';
import type { AdminContext } from './accounts.ts';
import { endMembership, type KeyFate } from './endMembership.ts';
import { findPerson } from './recovery.ts';

type Removal = {
  readonly accountId: string | null;
  readonly keys: KeyFate | undefined;
  readonly evenLastOwner: boolean;
};

const refuseLastOwner = async (tx: Queryable, personId: string, { id, name }: OwnAccount): Promise<void> => {
  const owners = await lockOwners(tx, id);
  if (owners.length !== 1 || owners[0]?.id !== personId) return;
  throw new FlorinError(
    'conflict',
    `They are the only owner of ${name} (${id}). Invite another owner first, or use --last-owner and then florin setup-link.`,
  );
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
      const { id, name, role } = account;
      const { deed, followed: more } = await endMembership(
        tx,
        { accountId: id, id: found.id, email: found.email, role },
        keys,
        made => {
          const list = made.map(key => `${key.id} (${key.name}, ${key.environment})`).join(', ');
          const sentence = `They made keys in ${name} that still work: ${list}. Use --keys keep or --keys revoke.`;
          return new FlorinError('conflict', sentence);
        },
      );
      followed.push(...[...more, deed].map(done => ({ in: { accountId: id, environment: null }, ...done })));
    }
    if (accountId === null) await removeRow(tx, found.id);
    return { value: accounts, deed: null, followed };
  });
};
