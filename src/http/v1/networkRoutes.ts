import Type from 'typebox';
import { FlorinError } from '../../core/errors.ts';
import { formatAmount } from '../../core/money.ts';
import type { MeasuredNetwork, NetworkDirectory } from '../../engine/chain/networkDirectory.ts';
import type { Route } from '../edge/route.ts';
import * as schemas from './schemas.ts';

const renderNetwork = ({ network, status, latestBlock, lagSeconds, checkedAt, disabled }: MeasuredNetwork) => ({
  slug: network.slug,
  name: network.name,
  family: network.family,
  environment: network.environment,
  status,
  caip2: network.caip2,
  chainId: network.chainId,
  nativeCurrency: network.nativeCurrency,
  currencies: network.currencies
    .filter(({ symbol }) => !(symbol in disabled))
    .map(currency => ({
      symbol: currency.symbol,
      name: currency.name,
      decimals: currency.decimals,
      contractAddress: currency.contractAddress,
      caip19: currency.caip19,
      minAmount: formatAmount(currency.minAmount, currency.decimals),
    })),
  confirmationsRequired: network.rule.depth,
  confirmationRule: network.rule.kind,
  blockTimeSeconds: network.blockTimeSeconds,
  latestBlock: latestBlock === null ? null : Number(latestBlock),
  lagSeconds,
  checkedAt: checkedAt?.toISOString() ?? null,
  explorerUrl: network.explorerUrl,
});

export const networkRoutes = (networks: NetworkDirectory): Route[] => [
  {
    method: 'GET',
    path: '/v1/networks',
    summary: 'List networks and their status',
    tag: 'Networks',
    access: 'public',
    answer: Type.Object({ data: Type.Array(schemas.network) }),
    handle: async call => ({
      body: JSON.stringify({ data: (await networks.list(call.environment)).map(renderNetwork) }),
    }),
  },
  {
    method: 'GET',
    path: '/v1/networks/:slug',
    summary: 'Retrieve a network',
    tag: 'Networks',
    access: 'public',
    answer: schemas.network,
    handle: async call => {
      const found = await networks.find(call.environment, call.params.slug!);
      if (!found) throw new FlorinError('not_found', 'No network has this slug.');
      return { body: JSON.stringify(renderNetwork(found)) };
    },
  },
];
