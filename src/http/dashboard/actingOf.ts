import type { Acting } from '../../engine/audit/acting.ts';
import { personActor } from '../../engine/audit/audit.ts';
import type { DashboardCall } from './dashboardRoute.ts';

/** The signed-in user as the actor in the audit log. */
export const actingOf = ({ scope, person, address }: Pick<DashboardCall, 'scope' | 'person' | 'address'>): Acting => ({
  scope,
  actor: personActor(person),
  address,
});
