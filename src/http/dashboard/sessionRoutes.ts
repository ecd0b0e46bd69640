import type { SessionState } from '../../core/dashboard/sessionApi.ts';
import type { Context } from '../../engine/context.ts';
import { endOwnSession } from '../../engine/dashboard/sessions.ts';
import { describeSignedIn } from '../../engine/dashboard/signedIn.ts';
import { hasOwner } from '../../storage/dashboard/people.ts';
import { type DashboardRoute, type PublicRoute, publicRoute, route } from './dashboardRoute.ts';
import { endedCookie } from './sessionCookie.ts';

/** Getting a session, and ending it. */
export const sessionRoutes = (context: Context): (DashboardRoute | PublicRoute)[] => [
  publicRoute({
    name: 'GET /session',
    action: 'public',
    async handle({ person }): Promise<SessionState> {
      if (person) return describeSignedIn(context, person);
      return (await hasOwner(context.db, null)) ? { state: 'signed-out' } : { state: 'no-owner' };
    },
  }),
  route({
    name: 'POST /sign-out',
    action: 'signed-in',
    async handle({ person, address }) {
      await endOwnSession(context, person, person.sessionId, address);
      return { reply: { body: '{"done":true}', headers: { 'set-cookie': endedCookie } } };
    },
  }),
];
