import type { ClaimedDelivery } from '../../storage/webhooks/deliveries.ts';
import type { Context } from '../context.ts';

type Parts = Pick<Context, 'vault' | 'log'>;

/**
 * Why nothing may be sent to the endpoint of a delivery; null if it may. Callbacks have seals of their own. `mayPass`: the endpoint
 * is genuine, and the audit log may vouch for it again, for example once the operator has declared a restore.
 */
type JudgeTarget = (delivery: ClaimedDelivery) => { readonly reason: string; readonly mayPass: boolean } | null;

/** Texts of endpoints that are remembered. */
const maximumEntries = 10_000;

/**
 * Holds endpoints against their seals and against the register of their account: it shows that an earlier address was put
 * back. The register comes with the claim, from the same moment as the endpoint: one that was read before would not know
 * what was put back since.
 */
export const createTargetJudge = (parts: Parts): JudgeTarget => {
  const { vault, log } = parts;
  const genuine = new Map<string, string>();
  const isSealed = ({ endpointText, endpointSeal }: ClaimedDelivery): boolean => {
    if (endpointText === null || endpointSeal === null) return false;
    const seal = endpointSeal.toString('hex');
    // An endpoint gets many events, and each comes with the same text.
    if (genuine.get(endpointText) === seal) return true;
    if (!vault.isRowSeal('webhook_endpoints', [endpointText], endpointSeal)) return false;
    if (genuine.size > maximumEntries) genuine.clear();
    genuine.set(endpointText, seal);
    return true;
  };
  const isVouchedFor = ({ vouched, isRegistered }: ClaimedDelivery): boolean =>
    isRegistered === true && vouched?.isTrue === true;

  return delivery => {
    const { accountId, environment, endpointId } = delivery;
    if (endpointId === null) return null;
    const target = { forged: 'webhook_endpoints', endpointId, accountId, environment };
    if (!isSealed(delivery)) {
      log.error(target, 'an endpoint does not match its seal');
      return { reason: 'the endpoint was changed in the database', mayPass: false };
    }
    if (isVouchedFor(delivery)) return null;
    log.error(target, 'an endpoint is not the one that the audit log vouches for');
    return { reason: 'the audit log does not vouch for the endpoint', mayPass: true };
  };
};
