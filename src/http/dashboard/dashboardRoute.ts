import type { TSchema } from 'typebox';
import type { AnswerOf, BodyOf, DashboardCallName, QueryOf } from '../../core/dashboard/dashboardApi.ts';
import type { Action } from '../../core/dashboard/roles.ts';
import type { SessionEnd } from '../../core/dashboard/sessionApi.ts';
import type { Environment, Scope } from '../../core/environment.ts';
import type { SignedInPerson, Visit } from '../../engine/dashboard/sessions.ts';
import type { Reply } from '../route.ts';

/** What the checks leave of a request, whoever sent it. */
type Common<Name extends DashboardCallName> = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: QueryOf<Name>;
  readonly body: BodyOf<Name>;
  readonly address: string;
  /** The same with the browser's name, for lists of sessions. */
  readonly visit: Visit;
  readonly requestId: string;
};

/** A request of the app that has passed origin, session, role and step-up checks and its schemas. */
export type DashboardCall<Name extends DashboardCallName = DashboardCallName> = Common<Name> & {
  readonly person: SignedInPerson;
  /** From `?environment=`; sandbox where a route does not say. */
  readonly environment: Environment;
  readonly scope: Scope;
};

/** One of somebody who may not have signed in yet. */
export type PublicCall<Name extends DashboardCallName = DashboardCallName> = Common<Name> & {
  readonly person: SignedInPerson | null;
  /** For somebody without a session: why the one of their cookie is over; null without a cookie. */
  readonly sessionEnd: () => Promise<SessionEnd | null>;
};

type Answering<Name extends DashboardCallName> = Promise<AnswerOf<Name> | { readonly reply: Reply }>;

type Shape<Name extends DashboardCallName> = {
  readonly name: Name;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Where a body may be larger than others. */
  readonly bodyBytes?: number;
};

/** One row of the dashboard's own interface. Reads and writes are told apart by the method alone. */
export type DashboardRoute<Name extends DashboardCallName = DashboardCallName> = Shape<Name> & {
  /** An action of the role table, or `signed-in` for one's own things. */
  readonly action: Action | 'signed-in';
  /** Asks for a proof that is a few minutes old at most: keys, wallets, secrets, team. */
  readonly stepUp?: boolean;
  /** An object becomes JSON; a Reply is sent as it is (files). */
  readonly handle: (call: DashboardCall<Name>) => Answering<Name>;
};

/** A row for people who have no session: how they get one. */
export type PublicRoute<Name extends DashboardCallName = DashboardCallName> = Shape<Name> & {
  readonly action: 'public';
  readonly handle: (call: PublicCall<Name>) => Answering<Name>;
};

/** A row whose types are those of its name, for a table of rows that have different ones. */
export const route = <Name extends DashboardCallName>(row: DashboardRoute<Name>): DashboardRoute =>
  row as unknown as DashboardRoute;

export const publicRoute = <Name extends DashboardCallName>(row: PublicRoute<Name>): PublicRoute =>
  row as unknown as PublicRoute;
