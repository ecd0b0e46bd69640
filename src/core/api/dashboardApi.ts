import type { MoneyApi } from './moneyApi.ts';
import type { SessionApi } from './sessionApi.ts';
import type { SetupApi } from './setupApi.ts';
import type { TeamApi } from './teamApi.ts';

/**
 * The calls of the dashboard, by method and path below /dashboard/api. The server's routes and the app's calls are both
 * typed by this table, so the compiler keeps them equal.
 */
export type DashboardApi = SessionApi & TeamApi & MoneyApi & SetupApi;
export type DashboardCallName = keyof DashboardApi;

type Row<Name extends DashboardCallName> = DashboardApi[Name];
export type AnswerOf<Name extends DashboardCallName> = Row<Name> extends { answer: infer Answer } ? Answer : never;
export type BodyOf<Name extends DashboardCallName> = Row<Name> extends { body: infer Body } ? Body : undefined;
export type QueryOf<Name extends DashboardCallName> = Row<Name> extends { query: infer Query } ? Query : undefined;
