import { type SimulateRequest, simulateRequest, simulation } from '../../core/api/simulation.ts';
import type { Context } from '../../engine/context.ts';
import { simulatePayment } from '../../engine/payments/simulatePayment.ts';
import { idempotencyOf } from '../edge/idempotencyKey.ts';
import { type ApiRoute, scopeOf } from '../edge/route.ts';

export const sandboxRoutes = (context: Context): ApiRoute[] => [
  {
    method: 'POST',
    path: '/v1/sandbox/payments/:id/simulate',
    operationId: 'simulatePayment',
    summary: 'Simulate an outcome of a sandbox payment on the local chain',
    tag: 'Sandbox',
    access: 'payments.create',
    body: simulateRequest,
    answer: simulation,
    handle: call => {
      const { outcome } = call.body!.value as SimulateRequest;
      return simulatePayment(context, scopeOf(call), call.params.id!, outcome, idempotencyOf(call, call.request.url));
    },
  },
];
