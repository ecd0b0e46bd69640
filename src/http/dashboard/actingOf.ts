import { type AccountScope, type Acting, memberActing } from '../../engine/audit/acting.ts';
import { personActor } from '../../engine/audit/audit.ts';
import type { DashboardCall } from './dashboardRoute.ts';

type Asked = Pick<DashboardCall, 'scope' | 'person' | 'address' | 'action'>;

/** The signed-in user as the actor in the audit log. */
export const actingOf = ({ scope, person, address, action }: Asked): Acting => ({
  scope,
  actor: personActor(person),
  address,
  needs: action,
});

/** The same for what belongs to no environment: sessions and the user's own sign-in. */
export const memberOf = ({ person, address, action }: Asked): Acting<AccountScope> => ({
  ...memberActing(person, address),
  needs: action,
});

/** The same for the team, whose verbs lock the member who acts themselves. */
export const managerOf = ({ person, address }: Asked): Acting<AccountScope> => memberActing(person, address);
