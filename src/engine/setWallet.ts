import type { Scope } from '../core/environment.ts';
import type { Network } from '../core/registry/networks.ts';
import { listWallets, stopWallet } from '../storage/wallets.ts';
import { type AdminContext, resolveAccount } from './accounts.ts';
import { operatorActing, recordAction } from './dashboard/acting.ts';
import { type Destination, type GivenDestination, readDestination } from './treasury.ts';
import { putWallet } from './walletSeal.ts';

/**
 * Sets a wallet for the operator, effective at once. Stops a pending change from the dashboard, which would replace
 * this wallet later.
 */
export const setWallet = async (
  context: AdminContext,
  scope: Scope,
  network: string,
  given: GivenDestination,
  networks: readonly Network[] = [],
): Promise<Destination> => {
  await resolveAccount(context, scope.accountId);
  const wallet = await readDestination(context.db, scope, networks, given);
  const acting = operatorActing(scope);
  await context.db.transaction(async tx => {
    const put = { network, ...wallet, waitSeconds: 0, requestedBy: acting.actor.name };
    const { version } = await putWallet(context, tx, scope, put);
    const waiting = (await listWallets(tx, scope)).find(each => each.pending && each.network === network);
    if (waiting) await stopWallet(tx, scope, { network, version: waiting.version, stoppedBy: acting.actor.name });
    await recordAction(context, tx, acting, {
      action: 'wallet.set',
      subject: network,
      detail: {
        ...wallet,
        version,
        ...(waiting && { stoppedChange: waiting.destination, stoppedVersion: waiting.version }),
      },
    });
  });
  return wallet;
};
