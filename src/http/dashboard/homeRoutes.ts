import { Type } from 'typebox';
import { readBackups } from '../../engine/access/readBackups.ts';
import { readGoLive } from '../../engine/access/readGoLive.ts';
import type { Context } from '../../engine/context.ts';
import { readHome } from '../../engine/payments/readHome.ts';
import { type DashboardRoute, route } from './dashboardRoute.ts';

const defaultDays = 30;
const mostDays = 366;

/** The home page with its figures and backups, and the checklist for going live. */
export const homeRoutes = (context: Context): DashboardRoute[] => [
  route({
    name: 'GET /home',
    action: 'payments.read',
    query: Type.Object({ days: Type.Optional(Type.Integer({ minimum: 1, maximum: mostDays })) }),
    handle: call => readHome(context, call.scope, call.query.days ?? defaultDays),
  }),
  route({
    name: 'GET /go-live',
    action: 'payments.read',
    handle: call => readGoLive(context, call.scope.accountId),
  }),
  route({
    name: 'GET /backups',
    action: 'backups.read',
    handle: () => readBackups(context),
  }),
];
