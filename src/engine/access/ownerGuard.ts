import { guarded } from '../../core/access/ownerGuard.ts';
import { FlorinError } from '../../core/errors.ts';
import { lockAuditHead } from '../../storage/audit/auditLog.ts';
import type { Queryable } from '../../storage/database.ts';
import { findGuardingChange } from '../../storage/wallets/walletApprovals.ts';
import type { Acting, ActingScope, Deed } from '../audit/acting.ts';
import { networkName } from '../wallets/contractTreasury.ts';

/**
 * One stolen session must not change a wallet and, before that is in force, put out those who could stop it. Asked with
 * the audit log locked, as a change of a wallet is: of two at the same time, one sees the other.
 */
export const refuseWhileWalletWaits = async (tx: Queryable, acting: Acting<ActingScope>, deed: Deed): Promise<void> => {
  const { scope, actor, isOperatorsLink } = acting;
  const what = guarded(deed);
  const accountId = (deed.in ?? scope)?.accountId;
  if (what === null || actor.kind !== 'person' || isOperatorsLink || accountId === undefined) return;
  await lockAuditHead(tx, accountId);
  const change = await findGuardingChange(tx, accountId, actor.id!, what);
  if (!change) return;
  throw new FlorinError(
    'conflict',
    `A wallet change for ${networkName(change.network)} takes effect at ${change.takesEffectAt.toISOString()}. Until then, owners and how they sign in cannot change. Stop the wallet change under Wallets first, or ask another owner to approve it.`,
  );
};
