import type { Context } from '../../engine/context.ts';
import type { CreatePayment } from '../../engine/payments/createPayment.ts';
import { createPaymentReader } from '../../engine/payments/readPayment.ts';
import type { ApiRoute } from '../edge/route.ts';
import { deliveryRoutes } from './deliveryRoutes.ts';
import { networkRoutes } from './networkRoutes.ts';
import { paymentRoutes } from './paymentRoutes.ts';
import { sandboxRoutes } from './sandboxRoutes.ts';
import { webhookRoutes } from './webhookRoutes.ts';

/** Every route of the API, except for those that tell of the system itself. */
export const allApiRoutes = (context: Context, createPayment: CreatePayment): ApiRoute[] => [
  ...paymentRoutes(context, createPayment, createPaymentReader(context)),
  ...webhookRoutes(context),
  ...deliveryRoutes(context),
  ...networkRoutes(context.networks),
  ...sandboxRoutes(context),
];
