import type { DashboardCallName } from '../../core/dashboard/dashboardApi.ts';
import type { Acting } from '../../engine/dashboard/acting.ts';
import { personActor } from '../../engine/dashboard/audit.ts';
import type { DashboardCall } from './dashboardRoute.ts';

/** The signed-in user as the actor in the audit log. */
export const actingOf = <Name extends DashboardCallName>({ scope, person, address }: DashboardCall<Name>): Acting => ({
  scope,
  actor: personActor(person),
  address,
});
