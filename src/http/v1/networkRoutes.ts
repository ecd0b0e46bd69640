import { type Network, network, networkList } from '../../core/api/network.ts';
import { FlorinError } from '../../core/errors.ts';
import { formatAmount } from '../../core/money.ts';
import type { MeasuredNetwork, NetworkDirectory } from '../../engine/chain/networkDirectory.ts';
import type { ApiRoute } from '../edge/route.ts';

const networkObject = (measured: MeasuredNetwork): Network => {
  const { network, status, latestBlock, lagSeconds, checkedAt, disabled } = measured;
  return {
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
  };
};

export const networkRoutes = (networks: NetworkDirectory): ApiRoute[] => [
  {
    method: 'GET',
    path: '/v1/networks',
    operationId: 'listNetworks',
    summary: 'List networks and their status',
    tag: 'Networks',
    access: 'public',
    answer: networkList,
    handle: async call => ({
      body: JSON.stringify({ data: (await networks.list(call.environment)).map(networkObject) }),
    }),
  },
  {
    method: 'GET',
    path: '/v1/networks/:slug',
    operationId: 'getNetwork',
    summary: 'Retrieve a network',
    tag: 'Networks',
    access: 'public',
    answer: network,
    handle: async call => {
      const found = await networks.find(call.environment, call.params.slug!);
      if (!found) throw new FlorinError('not_found', 'No network has this slug.');
      return { body: JSON.stringify(networkObject(found)) };
    },
  },
];
