import type { TSchema } from 'typebox';
import type { AnswerOf, BodyOf, DashboardCallName, QueryOf } from '../../core/dashboard/dashboardApi.ts';
import type { Action } from '../../core/dashboard/roles.ts';
import type { Environment, Scope } from '../../core/environment.ts';
import type { SignedInPerson } from '../../engine/dashboard/sessions.ts';
import type { Reply } from '../route.ts';

/** A request of the app that has passed origin, session, role and step-up checks and its schemas. */
export type DashboardCall<Name extends DashboardCallName = DashboardCallName> = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: QueryOf<Name>;
  readonly body: BodyOf<Name>;
  readonly person: SignedInPerson;
  /** From `?environment=`; sandbox where a route does not say. */
  readonly environment: Environment;
  readonly scope: Scope;
  readonly address: string;
  readonly requestId: string;
};

/** One row of the dashboard's own interface. Reads and writes are told apart by the method alone. */
export type DashboardRoute<Name extends DashboardCallName = DashboardCallName> = {
  readonly name: Name;
  /** An action of the role table, or `signed-in` for one's own things. */
  readonly action: Action | 'signed-in';
  /** Asks for a proof that is a few minutes old at most: keys, wallets, secrets, team. */
  readonly stepUp?: boolean;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** An object becomes JSON; a Reply is sent as it is (files). */
  readonly handle: (call: DashboardCall<Name>) => Promise<AnswerOf<Name>> | Promise<{ reply: Reply }>;
};
