import { resolveAccount } from '../access/accounts.ts';
import type { Context } from '../context.ts';
import type { Work } from '../perform.ts';
import type { AccountScope } from './acting.ts';
import { sealRegister } from './register.ts';

/**
 * For the operator, who has looked at them: the keys, wallets, members, endpoints and settings of an account are as they should be.
 * Rows without a valid seal stay refused.
 */
export const confirmRecords =
  (context: Pick<Context, 'vault'>): Work<null, AccountScope> =>
  async (tx, { scope }) => {
    await resolveAccount({ db: tx }, scope.accountId);
    await sealRegister(context, tx, scope.accountId);
    return { value: null, deed: { action: 'records.confirmed', subject: scope.accountId, detail: {} } };
  };
