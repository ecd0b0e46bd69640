import type { Context } from '../../engine/context.ts';
import { type SimulatedOutcome, simulatePayment } from '../../engine/payments/simulatePayment.ts';
import { idempotencyOf } from '../edge/idempotencyKey.ts';
import { type Route, scopeOf } from '../edge/route.ts';
import * as schemas from './schemas.ts';

export const sandboxRoutes = (context: Context): Route[] => [
  {
    method: 'POST',
    path: '/v1/sandbox/payments/:id/simulate',
    summary: 'Simulate an outcome of a sandbox payment on the local chain',
    tag: 'Sandbox',
    access: 'payments.create',
    body: schemas.simulateRequest,
    answer: schemas.simulated,
    handle: call => {
      const { outcome } = call.body!.value as { outcome: SimulatedOutcome };
      return simulatePayment(context, scopeOf(call), call.params.id!, outcome, idempotencyOf(call, call.request.url));
    },
  },
];
