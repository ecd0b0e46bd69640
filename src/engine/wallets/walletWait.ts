import type { Environment, Scope } from '../../core/environment.ts';
import type { Queryable } from '../../storage/database.ts';
import { wasWalletTold } from '../../storage/wallets/wallets.ts';

/** How long a change of wallet waits. The sandbox has no real money, so tests do not wait. */
const changeWaitHours = { sandbox: 0, production: 24 } as const satisfies Record<Environment, number>;

/**
 * How long a new wallet would wait. Only the first one of a network takes effect at once, because no payments went
 * elsewhere before. The tables alone do not say which one that is: lock the audit log before you ask.
 */
export const hoursToWait = async (
  db: Queryable,
  scope: Scope,
  network: string,
  inForce: object | undefined,
): Promise<number> => {
  const hours = changeWaitHours[scope.environment];
  return hours === 0 || inForce || (await wasWalletTold(db, scope, network)) ? hours : 0;
};
