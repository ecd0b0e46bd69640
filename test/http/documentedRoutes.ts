import type { ApiRoute } from '../../src/http/edge/route.ts';
import { deliveryRoutes } from '../../src/http/v1/deliveryRoutes.ts';
import { networkRoutes } from '../../src/http/v1/networkRoutes.ts';
import { paymentRoutes } from '../../src/http/v1/paymentRoutes.ts';
import { sandboxRoutes } from '../../src/http/v1/sandboxRoutes.ts';
import { systemRoutes } from '../../src/http/v1/systemRoutes.ts';
import { webhookRoutes } from '../../src/http/v1/webhookRoutes.ts';

// No handler is called: tests look only at what the table of routes says.
const unused = null as never;

/** Every route of the OpenAPI document. */
export const documentedRoutes: readonly ApiRoute[] = [
  ...paymentRoutes(unused, unused, unused),
  ...webhookRoutes(unused),
  ...deliveryRoutes(unused),
  ...networkRoutes(unused),
  ...sandboxRoutes(unused),
  ...systemRoutes(unused, unused, unused),
];
