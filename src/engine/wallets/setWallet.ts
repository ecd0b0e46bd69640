import type { Network } from '../../core/registry/networks.ts';
import { listWallets, stopWallet } from '../../storage/wallets/wallets.ts';
import { type AdminContext, resolveAccount } from '../access/accounts.ts';
import type { Work } from '../perform.ts';
import { type Destination, type GivenDestination, readDestination } from './treasury.ts';
import { putWallet } from './walletSeal.ts';

/**
 * Sets a wallet for the operator, effective at once. Stops a pending change from the dashboard, which would replace
 * this wallet later.
 */
export const setWallet =
  (
    context: AdminContext,
    network: string,
    given: GivenDestination,
    networks: readonly Network[] = [],
  ): Work<Destination> =>
  async (tx, { scope, actor }) => {
    await resolveAccount({ db: tx }, scope.accountId);
    const wallet = await readDestination(tx, scope, networks, given);
    const put = { network, ...wallet, waitSeconds: 0, requestedBy: actor.name };
    const { version } = await putWallet(context, tx, scope, put);
    const waiting = (await listWallets(tx, scope)).find(each => each.pending && each.network === network);
    if (waiting) await stopWallet(tx, scope, { network, version: waiting.version, stoppedBy: actor.name });
    const stopped = waiting && { stoppedChange: waiting.destination, stoppedVersion: waiting.version };
    const detail = { ...wallet, version, ...stopped };
    return { value: wallet, deed: { action: 'wallet.set', subject: network, detail } };
  };
