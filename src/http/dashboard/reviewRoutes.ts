import Type from 'typebox';
import { strict } from '../../core/api/fields.ts';
import { invalid } from '../../core/errors.ts';
import { reviewRestore } from '../../engine/chain/reviewRestore.ts';
import type { Context } from '../../engine/context.ts';
import { perform } from '../../engine/perform.ts';
import { memberOf } from './actingOf.ts';
import { type DashboardRoute, route } from './dashboardRoute.ts';

const seen = Type.Object({ restoredAt: Type.String({ maxLength: 40 }) }, strict);

/** The review after a restore. What it looks at is read by the calls of the other pages. */
export const reviewRoutes = (context: Context): DashboardRoute[] => [
  route({
    name: 'POST /restore-review',
    action: 'restore.review',
    stepUp: 'review',
    body: seen,
    async handle(call) {
      const restoredAt = new Date(call.body.restoredAt);
      if (Number.isNaN(restoredAt.getTime())) throw invalid('restoredAt', 'restoredAt must be an ISO 8601 time.');
      await perform(context, memberOf(call), null, reviewRestore(restoredAt));
      return { done: true } as const;
    },
  }),
];
