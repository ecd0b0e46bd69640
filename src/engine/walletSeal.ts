import type { Scope } from '../core/environment.ts';
import type { Queryable } from '../storage/database.ts';
import { insertWallet, lockWallets, type WalletRow } from '../storage/wallets.ts';
import type { Vault } from '../vault/vault.ts';
import type { Destination } from './treasury.ts';

/** Whether a row is one that Florin has written. The database takes no new row of the old form, which has no number. */
export const isSealed = (vault: Vault, { accountId, environment }: Scope, wallet: WalletRow): boolean => {
  const { network, kind, destination, version, takesEffectAtMs, seal } = wallet;
  const fields = { accountId, environment, network, kind, destination };
  const mac = Buffer.from(wallet.mac, 'hex');
  if (seal === 1) return takesEffectAtMs === null && vault.verifyWalletMac(fields, mac);
  return vault.verifyWalletVersionMac({ ...fields, version, takesEffectAtMs }, mac);
};

/** Puts a new version in, in force at once or after a wait. Within a transaction that holds the scope's wallets. */
export const putWallet = async (
  context: { readonly vault: Vault },
  tx: Queryable,
  scope: Scope,
  wallet: Destination & { network: string; waitSeconds: number; requestedBy: string | null },
): Promise<{ version: number; takesEffectAt: Date | null }> => {
  const { network, kind, destination, waitSeconds, requestedBy } = wallet;
  const { now, latest } = await lockWallets(tx, scope, network);
  const version = latest + 1;
  const takesEffectAt = waitSeconds === 0 ? null : new Date(now.getTime() + waitSeconds * 1000);
  const takesEffectAtMs = takesEffectAt?.getTime() ?? null;
  // With its number and its time: a copy of an older row is no newer one, and a change cannot be brought forward.
  const { accountId, environment } = scope;
  const fields = { accountId, environment, network, kind, destination, version, takesEffectAtMs };
  const mac = context.vault.walletVersionMac(fields);
  await insertWallet(tx, scope, {
    network,
    version,
    kind,
    destination,
    mac,
    createdAt: now,
    takesEffectAt,
    requestedBy,
  });
  return { version, takesEffectAt };
};
