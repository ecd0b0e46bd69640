import type { AdminContext } from '../../src/engine/access/accounts.ts';
import { sealRegister } from '../../src/engine/audit/register.ts';
import { openReviews } from '../../src/storage/chain/restoreReviews.ts';

/** As a restore that is declared does, without its other parts. */
export const closeProduction = (admin: Pick<AdminContext, 'db' | 'vault'>): Promise<void> =>
  admin.db.transaction(async tx => {
    for (const accountId of await openReviews(tx)) await sealRegister(admin, tx, accountId);
  });
