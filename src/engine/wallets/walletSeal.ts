import type { Scope } from '../../core/environment.ts';
import type { Queryable } from '../../storage/database.ts';
import { insertWallet, lockWallets, type WalletRow } from '../../storage/wallets/wallets.ts';
import type { Vault } from '../../vault/vault.ts';
import type { Destination } from './treasury.ts';

/**
 * Whether Florin wrote the row. Seals of version 1 do not cover the wallet's version number; the database accepts no
 * new ones.
 */
export const isSealed = (vault: Vault, { accountId, environment }: Scope, wallet: WalletRow): boolean => {
  const { network, kind, destination, version, takesEffectAtMs, seal } = wallet;
  const fields = { accountId, environment, network, kind, destination };
  const mac = Buffer.from(wallet.mac, 'hex');
  if (seal === 1) return takesEffectAtMs === null && vault.verifyWalletMac(fields, mac);
  return vault.verifyWalletVersionMac({ ...fields, version, takesEffectAtMs }, mac);
};

/** Inserts a new version of a wallet, effective now or after a wait. Locks the wallets of the scope. */
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
  // The seal covers version and time: a copy of an older row is not a newer version, and a change cannot be moved
  // forward.
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
