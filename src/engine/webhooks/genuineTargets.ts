import type { Scope } from '../../core/environment.ts';
import { FlorinError } from '../../core/errors.ts';
import { readRegisterStates } from '../../storage/audit/register.ts';
import type { ClaimedDelivery } from '../../storage/webhooks/deliveries.ts';
import { createBatcher } from '../batch.ts';
import type { Context } from '../context.ts';

type Parts = Pick<Context, 'db' | 'vault' | 'log'>;
type Sealed = Pick<ClaimedDelivery, 'accountId' | 'endpointId' | 'endpointText' | 'endpointSeal'>;

/** Why nothing may be sent to the endpoint of a delivery now; null if it may. Callbacks have seals of their own. */
export type JudgeTarget = (delivery: Sealed & Scope) => Promise<string | null>;

const freshMs = 500;
/** Endpoints and accounts that are remembered. */
const maximumEntries = 10_000;

/**
 * Holds endpoints against their seals and against the register of their account: it shows that an earlier address was put
 * back. The register is read at most twice a second for an account, many in one statement.
 */
export const createTargetJudge = (parts: Parts, nowMs: () => number): JudgeTarget => {
  const { db, vault, log } = parts;
  const genuine = new Map<string, string>();
  const registers = new Map<string, { isTrue: boolean; readMs: number }>();
  const readRegister = createBatcher<string, boolean>({
    maxItems: 200,
    maxWaiting: 10_000,
    overloaded: () => new FlorinError('service_unavailable', 'Too many accounts are waiting.'),
    async run(accountIds) {
      const readMs = nowMs();
      const found = new Map(
        (await readRegisterStates(db, { accountIds, after: null, limit: accountIds.length })).map(each => [
          each.accountId,
          each.vouched?.isTrue === true,
        ]),
      );
      if (registers.size > maximumEntries) registers.clear();
      for (const [accountId, isTrue] of found) registers.set(accountId, { isTrue, readMs });
      return accountIds.map(accountId => found.get(accountId) ?? false);
    },
  });

  const isEndpointSealed = ({ endpointId, endpointText, endpointSeal }: Sealed): boolean => {
    if (endpointId === null || endpointText === null || endpointSeal === null) return false;
    const hex = endpointSeal.toString('hex');
    // An endpoint gets many events, and each comes with the same text.
    if (genuine.get(endpointText) === hex) return true;
    if (!vault.isRowSeal('webhook_endpoints', [endpointText], endpointSeal)) return false;
    if (genuine.size > maximumEntries) genuine.clear();
    genuine.set(endpointText, hex);
    return true;
  };
  const isRegistered = async (accountId: string): Promise<boolean> => {
    const known = registers.get(accountId);
    return known && nowMs() - known.readMs < freshMs ? known.isTrue : readRegister(accountId);
  };

  return async delivery => {
    const { accountId, environment, endpointId } = delivery;
    if (endpointId === null) return null;
    const target = { forged: 'webhook_endpoints', endpointId };
    if (!isEndpointSealed(delivery)) {
      log.error({ ...target, accountId, environment }, 'an endpoint does not match its seal');
      return 'the endpoint was changed in the database';
    }
    if (await isRegistered(accountId)) return null;
    log.error({ ...target, accountId, environment }, 'an endpoint is not the one that the audit log vouches for');
    return 'the endpoints of the account were changed in the database';
  };
};
