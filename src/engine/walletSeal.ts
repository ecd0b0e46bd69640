import type { Scope } from '../core/environment.ts';
import type { Queryable } from '../storage/database.ts';
import { insertWallet, lockWallets, type WalletRow } from '../storage/wallets.ts';
import type { Vault } from '../vault/vault.ts';
import type { Destination } from './treasury.ts';

/** Whether a row is one that Florin has written. */
export const isSealed = (vault: Vault, { accountId, environment }: Scope, wallet: WalletRow): boolean => {
  const { network, kind, destination, version, takesEffectAtMs } = wallet;
  const fields = { accountId, environment, network, kind, destination };
  const mac = Buffer.from(wallet.mac, 'hex');
  return takesEffectAtMs === null
    ? vault.verifyWalletMac(fields, mac)
    : vault.verifyWalletChangeMac({ ...fields, version, takesEffectAtMs }, mac);
};

/**
 * A change that waits is sealed with its number and its time: whoever can write to the database can neither bring it
 * forward nor put it in again after it was stopped.
 */
const sealOf = (vault: Vault, { accountId, environment }: Scope, wallet: Omit<WalletRow, 'mac'>): Buffer => {
  const { network, kind, destination, version, takesEffectAtMs } = wallet;
  const fields = { accountId, environment, network, kind, destination };
  return takesEffectAtMs === null
    ? vault.walletMac(fields)
    : vault.walletChangeMac({ ...fields, version, takesEffectAtMs });
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
  const mac = sealOf(context.vault, scope, { network, version, kind, destination, takesEffectAtMs });
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
