import type { TSchema } from 'typebox';
import type { Action } from '../../core/access/rights.ts';
import type { AnswerOf, BodyOf, DashboardCallName, QueryOf } from '../../core/api/dashboardApi.ts';
import type { SessionEnd } from '../../core/api/sessionApi.ts';
import type { Environment, Scope } from '../../core/environment.ts';
import type { StepUp } from '../../engine/access/proofNeeded.ts';
import type { SignedInPerson, Visit } from '../../engine/access/sessions.ts';
import type { Reply } from '../edge/route.ts';

/** Fields of every call, signed in or not. */
type Common<Name extends DashboardCallName> = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: QueryOf<Name>;
  readonly body: BodyOf<Name>;
  readonly address: string;
  /** IP address and browser, for the list of sessions. */
  readonly visit: Visit;
  readonly requestId: string;
};

/** A request of the app that passed the checks of origin, session, role, step-up and schema. */
export type DashboardCall<Name extends DashboardCallName = DashboardCallName> = Common<Name> & {
  readonly person: SignedInPerson;
  /** What the call needs of the role table. */
  readonly action: Action | 'signed-in';
  /** From `?environment=`. Default: sandbox. */
  readonly environment: Environment;
  readonly scope: Scope;
};

/** A request of a person who may not be signed in. */
export type PublicCall<Name extends DashboardCallName = DashboardCallName> = Common<Name> & {
  readonly person: SignedInPerson | null;
  /** Tells who has signed in on this device; null without it. */
  readonly deviceCookie: string | null;
  /** Why the session of the cookie ended; null without a cookie. */
  readonly sessionEnd: () => Promise<SessionEnd | null>;
};

type Answering<Name extends DashboardCallName> = Promise<AnswerOf<Name> | { readonly reply: Reply }>;

type Shape<Name extends DashboardCallName> = {
  readonly name: Name;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Overrides the default limit of the body. */
  readonly bodyBytes?: number;
};

/** One route of the dashboard API. GET reads; every other method writes. */
export type DashboardRoute<Name extends DashboardCallName = DashboardCallName> = Shape<Name> & {
  /** An action of the role table, or `signed-in` for the user's own account. */
  readonly action: Action | 'signed-in';
  /** Requires that the user confirmed their identity in the last minutes: keys, wallets, secrets, team. */
  readonly stepUp?: StepUp;
  /** An object is sent as JSON. A Reply is sent unchanged, for example a file. */
  readonly handle: (call: DashboardCall<Name>) => Answering<Name>;
};

/** A route that needs no session, for example sign-in. */
export type PublicRoute<Name extends DashboardCallName = DashboardCallName> = Shape<Name> & {
  readonly action: 'public';
  readonly handle: (call: PublicCall<Name>) => Answering<Name>;
};

/** Infers the types of a row from its name, so that rows of different types fit into one table. */
export const route = <Name extends DashboardCallName>(row: DashboardRoute<Name>): DashboardRoute =>
  row as unknown as DashboardRoute;

export const publicRoute = <Name extends DashboardCallName>(row: PublicRoute<Name>): PublicRoute =>
  row as unknown as PublicRoute;
