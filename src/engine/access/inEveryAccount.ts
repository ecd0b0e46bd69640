import { accountsOf } from '../../storage/access/memberships.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Deed } from '../audit/acting.ts';

/**
 * What a person does to their sign-in concerns every account that they can open with it, so each log says it, whichever
 * account was open.
 */
export const inEveryAccount = async (tx: Queryable, personId: string, deed: Deed): Promise<Deed[]> => {
  const accounts = await accountsOf(tx, personId);
  return accounts.map(({ id }) => ({ ...deed, in: { accountId: id, environment: null } }));
};
