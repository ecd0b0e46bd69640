import { formatAmount } from '../../core/money.ts';
import type { Context } from '../../engine/context.ts';
import { type DashboardRoute, route } from './dashboardRoute.ts';

/** Networks and currencies for forms and filters. */
export const payableNetworkRoutes = ({ networks, localChain }: Context): DashboardRoute[] => [
  route({
    name: 'GET /networks',
    action: 'payments.read',
    async handle({ environment }) {
      const measured = await networks.list(environment);
      const data = measured.map(({ network, status, disabled }) => ({
        slug: network.slug,
        name: network.name,
        caip2: network.caip2,
        chainId: network.chainId,
        status,
        explorerUrl: network.explorerUrl,
        isLocal: environment === 'sandbox' && localChain !== null && localChain.caip2 === network.caip2,
        currencies: network.currencies
          .filter(({ symbol }) => !(symbol in disabled))
          .map(({ symbol, name, decimals, minAmount }) => ({
            symbol,
            name,
            decimals,
            minAmount: formatAmount(minAmount, decimals),
          })),
      }));
      return { data };
    },
  }),
];
