import { formatAmount } from '../../core/money.ts';
import type { Context } from '../context.ts';

/** Words for an amount of base units on a chain, and for the network. Tokens that are not listed show their contract. */
export const tokenText = (
  context: Pick<Context, 'networks'>,
  { caip2, contract, amount }: { readonly caip2: string; readonly contract: string | null; readonly amount: string },
): { readonly amount: string; readonly network: string } => {
  const onChain = context.networks.all().filter(network => network.caip2 === caip2);
  // On the local chain each network has its own tokens, so the token also names the network.
  const network = onChain.find(({ currencies }) => currencies.some(each => each.contractAddress === contract));
  const currency = network?.currencies.find(each => each.contractAddress === contract);
  const units = BigInt(amount);
  const sign = units < 0n ? '-' : '';
  return {
    amount: currency
      ? `${sign}${formatAmount(units < 0n ? -units : units, currency.decimals)} ${currency.symbol}`
      : `${amount} base units of ${contract ?? 'the native coin'}`,
    network: (network ?? onChain[0])?.name ?? caip2,
  };
};
