import type { Context } from '../../engine/context.ts';
import type { CreatePayment } from '../../engine/payments/createPayment.ts';
import { dashboardPayments } from './dashboardPayments.ts';
import type { DashboardRoute, PublicRoute } from './dashboardRoute.ts';
import { dashboardWebhooks } from './dashboardWebhooks.ts';
import { homeRoutes } from './homeRoutes.ts';
import { keyRoutes } from './keyRoutes.ts';
import { ownRoutes } from './ownRoutes.ts';
import { payableNetworkRoutes } from './payableNetworkRoutes.ts';
import { reviewRoutes } from './reviewRoutes.ts';
import { sessionRoutes } from './sessionRoutes.ts';
import { settingsRoutes } from './settingsRoutes.ts';
import { settlementRoutes } from './settlementRoutes.ts';
import { teamRoutes } from './teamRoutes.ts';
import { walletRoutes } from './walletRoutes.ts';

/** Every route of the dashboard API. */
export const allDashboardRoutes = (
  context: Context,
  createPayment: CreatePayment,
): (DashboardRoute | PublicRoute)[] => [
  ...sessionRoutes(context),
  ...ownRoutes(context),
  ...teamRoutes(context),
  ...payableNetworkRoutes(context),
  ...homeRoutes(context),
  ...dashboardPayments(context, createPayment),
  ...settlementRoutes(context),
  ...keyRoutes(context),
  ...dashboardWebhooks(context),
  ...walletRoutes(context),
  ...settingsRoutes(context),
  ...reviewRoutes(context),
];
