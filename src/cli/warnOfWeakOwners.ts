import type { Environment } from '../core/environment.ts';
import { readReadiness } from '../storage/access/goLive.ts';
import { hasOwner } from '../storage/access/memberships.ts';
import type { Queryable } from '../storage/database.ts';

/** Beside an answer that takes an account into production: whoever has an owner's password could take it over. */
export const warnOfWeakOwners = async (
  { db }: { readonly db: Queryable },
  { accountId, environment }: { readonly accountId: string; readonly environment: Environment },
): Promise<void> => {
  if (environment !== 'production' || !(await hasOwner(db, accountId))) return;
  if ((await readReadiness(db, accountId)).hasSecondFactor) return;
  console.error(
    'Warning: no owner of this account has a second factor. Add a passkey or an authenticator app on the page My account before you take payments.',
  );
};
