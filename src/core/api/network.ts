import Type, { type Static } from 'typebox';
import { environments } from '../environment.ts';
import { choice, finalityRule, nullable, text, time, whole } from './fields.ts';

export const currency = Type.Object({
  symbol: text('Symbol of the currency, as in payments.'),
  name: text('Name of the currency.'),
  decimals: whole('Number of decimal places.'),
  contractAddress: nullable(text('Contract of the token; null for the native currency.')),
  caip19: text('The asset as CAIP-19.'),
  minAmount: text('Smallest amount of a payment, in token units.'),
});
export type Currency = Static<typeof currency>;

export const network = Type.Object({
  slug: text('Slug of the network, as in payments.'),
  name: text('Name of the chain in this environment.'),
  family: choice(['evm', 'utxo'], 'Kind of chain.'),
  environment: choice(environments, 'Environment of this API.'),
  status: choice(
    ['operational', 'degraded', 'down', 'maintenance'],
    'Measured status. While it is down or maintenance, no payments can be created.',
  ),
  caip2: text('The chain as CAIP-2.'),
  chainId: nullable(whole('Chain id; null if the family has none.')),
  nativeCurrency: text('Symbol of the currency that fees are paid in.'),
  currencies: Type.Array(currency, { description: 'Currencies that payments can use.' }),
  confirmationsRequired: nullable(whole('Number of blocks required; null if only the tag decides.')),
  confirmationRule: finalityRule,
  blockTimeSeconds: Type.Number({ description: 'Usual time between two blocks.' }),
  latestBlock: nullable(whole('Newest known block; null if there is none.')),
  lagSeconds: nullable(whole('Age of that block at checkedAt; null if it is not known.')),
  checkedAt: nullable(time('When the status was measured.')),
  explorerUrl: nullable(text('Block explorer of the chain; null if there is none.')),
});
export type Network = Static<typeof network>;

export const networkList = Type.Object({ data: Type.Array(network) });
