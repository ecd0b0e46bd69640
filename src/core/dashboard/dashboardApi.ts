import type { MoneyApi } from './moneyApi.ts';
import type { SessionApi } from './sessionApi.ts';
import type { SetupApi } from './setupApi.ts';
import type { TeamApi } from './teamApi.ts';

/**
 * What the app asks and what the server answers, by method and path below /dashboard/api. Both sides are held to it by
 * the compiler: a route of the server answers what is written here, and the app's calls name a row of it.
 */
export type DashboardApi = SessionApi & TeamApi & MoneyApi & SetupApi;
export type DashboardCallName = keyof DashboardApi;

type Row<Name extends DashboardCallName> = DashboardApi[Name];
export type AnswerOf<Name extends DashboardCallName> = Row<Name> extends { answer: infer Answer } ? Answer : never;
export type BodyOf<Name extends DashboardCallName> = Row<Name> extends { body: infer Body } ? Body : undefined;
export type QueryOf<Name extends DashboardCallName> = Row<Name> extends { query: infer Query } ? Query : undefined;
