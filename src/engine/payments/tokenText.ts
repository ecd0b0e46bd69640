import { formatAmount } from '../../core/money.ts';
import type { Network } from '../../core/registry/networks.ts';
import type { Context } from '../context.ts';

/** The contract is null for the native coin. */
export type KnownToken = { readonly symbol: string; readonly contract: string | null; readonly decimals: number };

/** What the watcher of a network reads: tokens that can be asked for, then look-alikes that people send by mistake. */
export const knownTokens = ({ currencies, lookAlikes }: Network): KnownToken[] => [
  ...currencies.map(({ symbol, contractAddress: contract, decimals }) => ({ symbol, contract, decimals })),
  ...lookAlikes.map(({ symbol, address: contract, decimals }) => ({ symbol, contract, decimals })),
];

/** Words for an amount of base units on a chain, and for the network. Tokens that are not known show their contract. */
export const tokenText = (
  context: Pick<Context, 'networks'>,
  { caip2, contract, amount }: { readonly caip2: string; readonly contract: string | null; readonly amount: string },
): { readonly amount: string; readonly network: string } => {
  const onChain = context.networks.all().filter(network => network.caip2 === caip2);
  // On the local chain each network has its own tokens, so the token also names the network.
  const network = onChain.find(each => knownTokens(each).some(known => known.contract === contract));
  const token = network && knownTokens(network).find(known => known.contract === contract);
  const units = BigInt(amount);
  const sign = units < 0n ? '-' : '';
  return {
    amount: token
      ? `${sign}${formatAmount(units < 0n ? -units : units, token.decimals)} ${token.symbol}`
      : `${amount} base units of ${contract ?? 'the native coin'}`,
    network: (network ?? onChain[0])?.name ?? caip2,
  };
};
