import { Type } from 'typebox';
import { invalid } from '../../core/errors.ts';
import type { Context } from '../../engine/context.ts';
import { readGoLive } from '../../engine/dashboard/readGoLive.ts';
import { readHome } from '../../engine/dashboard/readHome.ts';
import { type DashboardRoute, route } from './dashboardRoute.ts';

const defaultDays = 30;
const mostDays = 366;

/** In a query all is text. */
const daysOf = (text: unknown): number => {
  if (text === undefined) return defaultDays;
  const days = typeof text === 'string' && /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > mostDays) throw invalid('days', `days must be a whole number from 1 to ${mostDays}.`);
  return days;
};

/** What is seen first: figures, and what is left to do before real money is taken. */
export const homeRoutes = (context: Context): DashboardRoute[] => [
  route({
    name: 'GET /home',
    action: 'payments.read',
    query: Type.Object({ days: Type.Optional(Type.String({ maxLength: 10 })) }),
    handle: call => readHome(context, call.scope, daysOf(call.query.days)),
  }),
  route({
    name: 'GET /go-live',
    action: 'payments.read',
    handle: call => readGoLive(context, call.scope.accountId),
  }),
];
