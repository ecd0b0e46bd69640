import { refuseInReview } from '../../engine/chain/reviewRestore.ts';
import type { Context } from '../../engine/context.ts';
import type { CreatePayment } from '../../engine/payments/createPayment.ts';
import { createPaymentReader } from '../../engine/payments/readPayment.ts';
import { type ApiRoute, scopeOf } from '../edge/route.ts';
import { deliveryRoutes } from './deliveryRoutes.ts';
import { networkRoutes } from './networkRoutes.ts';
import { paymentRoutes } from './paymentRoutes.ts';
import { sandboxRoutes } from './sandboxRoutes.ts';
import { webhookRoutes } from './webhookRoutes.ts';

/** Whatever a key creates or changes waits for the review after a restore. */
const afterReview = (context: Context, route: ApiRoute): ApiRoute =>
  route.method === 'GET'
    ? route
    : {
        ...route,
        async handle(call) {
          await refuseInReview(context, scopeOf(call));
          return route.handle(call);
        },
      };

/** Every route of the API, except for those that tell of the system itself. */
export const allApiRoutes = (context: Context, createPayment: CreatePayment): ApiRoute[] =>
  [
    ...paymentRoutes(context, createPayment, createPaymentReader(context)),
    ...webhookRoutes(context),
    ...deliveryRoutes(context),
    ...networkRoutes(context.networks),
    ...sandboxRoutes(context),
  ].map(route => afterReview(context, route));
