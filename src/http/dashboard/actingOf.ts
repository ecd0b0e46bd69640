import { type AccountScope, type Acting, memberActing } from '../../engine/audit/acting.ts';
import { personActor } from '../../engine/audit/audit.ts';
import type { DashboardCall } from './dashboardRoute.ts';

type Asked = Pick<DashboardCall, 'scope' | 'person' | 'address'>;

/** The signed-in user as the actor in the audit log. */
export const actingOf = ({ scope, person, address }: Asked): Acting => ({ scope, actor: personActor(person), address });

/** The same for what belongs to no environment: the team, sessions, the user's own sign-in. */
export const memberOf = ({ person, address }: Asked): Acting<AccountScope> => memberActing(person, address);
