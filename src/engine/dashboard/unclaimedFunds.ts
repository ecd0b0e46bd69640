import type { UnclaimedFunds } from '../../core/dashboard/moneyApi.ts';
import type { Scope } from '../../core/environment.ts';
import { formatAmount } from '../../core/money.ts';
import { listUnclaimed } from '../../storage/unclaimed.ts';
import type { Context } from '../context.ts';

const shownFunds = 100;

/** Funds that arrived for payments that a restore lost, newest first. */
export const readUnclaimed = async (context: Context, scope: Scope): Promise<UnclaimedFunds[]> => {
  const rows = await listUnclaimed(context.listDb, scope, shownFunds);
  return rows.map(({ caip2, contract, amount, address, txHash, firstSeenAt }) => {
    const onChain = context.networks.all().filter(network => network.caip2 === caip2);
    // On the local chain each network has its own tokens, so the token also names the network.
    const network = onChain.find(({ currencies }) => currencies.some(each => each.contractAddress === contract));
    const currency = network?.currencies.find(each => each.contractAddress === contract);
    return {
      amount: currency
        ? `${formatAmount(BigInt(amount), currency.decimals)} ${currency.symbol}`
        : `${amount} base units of ${contract ?? 'the native coin'}`,
      network: (network ?? onChain[0])?.name ?? caip2,
      address,
      txHash,
      at: firstSeenAt.toISOString(),
    };
  });
};
