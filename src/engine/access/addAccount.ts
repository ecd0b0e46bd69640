import { FlorinError } from '../../core/errors.ts';
import type { AccountRow } from '../../storage/access/accounts.ts';
import { personActor } from '../audit/audit.ts';
import type { Context } from '../context.ts';
import { createAccount } from './accounts.ts';
import { readName } from './people.ts';
import type { SignedInPerson } from './sessions.ts';

/** Creates a further account, whose owner the person is. Only if the operator allows it. */
export const addAccount = async (
  context: Context,
  person: SignedInPerson,
  name: string,
  address: string,
): Promise<AccountRow> => {
  if (!context.dashboard.mayAddAccounts) {
    throw new FlorinError(
      'permission_denied',
      'This Florin does not allow people to create accounts. Ask whoever runs it to create one for you.',
    );
  }
  const request = { name: readName(name), plan: 'starter', rateLimit: null, burst: null } as const;
  return createAccount(context, request, personActor(person), { ownerId: person.personId, address });
};
