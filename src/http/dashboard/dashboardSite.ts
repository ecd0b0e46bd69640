import type { FastifyRequest } from 'fastify';
import { type TObject, Type } from 'typebox';
import type { DashboardCallName } from '../../core/api/dashboardApi.ts';
import { type Environment, environments } from '../../core/environment.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import type { RateLimiter } from '../../core/tokenBucket.ts';
import type { Context } from '../../engine/context.ts';
import { iconPath } from '../docs/iconRoute.ts';
import type { Call, Reply, Route } from '../edge/route.ts';
import type { Incoming, ServerOptions } from '../edge/server.ts';
import { deviceCookieOf, publicPort } from './cookies.ts';
import { loadDashboardAssets } from './dashboardAssets.ts';
import { createGate, type Gate } from './dashboardGate.ts';
import { dashboardHeaders } from './dashboardHeaders.ts';
import type { DashboardRoute, PublicRoute } from './dashboardRoute.ts';
import { deviceOf } from './device.ts';

const root = '/dashboard';
const isBelow = /^\/dashboard(?:\/|$)/;

/** The path and query, without scheme and host. The router ignores these too. */
const targetOf = ({ url }: FastifyRequest): string => url.replace(/^https?:\/\/[^/?#]*/i, '');

const decoded = (path: string): string => {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
};

const pathOf = (request: FastifyRequest): string => decoded(targetOf(request).split(/[?#]/, 1)[0]!);

const nothingHere = (): FlorinError => new FlorinError('not_found', 'This path does not exist.');

const environmentQuery = { environment: Type.Optional(Type.Union(environments.map(each => Type.Literal(each)))) };

/** Every call accepts `environment`. */
const querySchema = (row: DashboardRoute | PublicRoute): NonNullable<Route['query']> => {
  const given = row.query as TObject | undefined;
  return Type.Object({ ...given?.properties, ...environmentQuery }, { additionalProperties: false });
};

const isReply = (answer: unknown): answer is { reply: Reply } =>
  typeof answer === 'object' && answer !== null && 'reply' in answer;

/** Matches every id and every network slug. */
const paramForm = /^[\w.:-]{1,200}$/;

/** PostgreSQL cannot store text with a zero byte. */
const hasZero = (value: unknown): boolean => {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, each]) => key.includes('\0') || hasZero(each));
};

const refuseUnstorable = ({ params, query, body }: Call): void => {
  if (!Object.values(params).every(each => paramForm.test(each))) throw nothingHere();
  for (const [name, value] of Object.entries({ ...(query as object), ...(body?.value as object | undefined) })) {
    if (hasZero(value)) throw invalid(name, 'Text must not contain the character U+0000.');
  }
};

/** Converts a route of the dashboard API to a route of the server. */
const apiRoute = (context: Context, row: DashboardRoute | PublicRoute, gate: Gate): Route => {
  const [method, path] = row.name.split(' ') as [Route['method'], string];
  const handle = async (call: Call): Promise<Reply> => {
    refuseUnstorable(call);
    const { environment = 'sandbox', ...query } = call.query as { environment?: Environment };
    const shared = {
      params: call.params,
      query: query as never,
      body: call.body?.value as never,
      address: call.address,
      visit: {
        address: call.address,
        device: deviceOf(call.request.headers['user-agent']),
        port: publicPort(context.dashboard.url),
      },
      requestId: call.requestId,
    };
    const person = gate.personOf(call.request);
    const answering = (): Promise<unknown> => {
      if (row.action === 'public')
        return row.handle({
          ...shared,
          person,
          deviceCookie: deviceCookieOf(call.request, context.dashboard.url),
          sessionEnd: () => gate.endOf(call.request),
        });
      if (!person) throw new Error('this call has no signed-in person');
      const { action } = row;
      return row.handle({
        ...shared,
        person,
        action,
        environment,
        scope: { accountId: person.accountId, environment },
      });
    };
    const answer = await answering();
    return isReply(answer) ? answer.reply : { body: JSON.stringify(answer) };
  };
  return {
    method,
    path: `${root}/api${path}`,
    summary: row.name,
    tag: 'Dashboard',
    access: gate.admission(row),
    query: querySchema(row),
    ...(row.body ? { body: row.body } : {}),
    ...(row.bodyBytes ? { bodyBytes: row.bodyBytes } : {}),
    handle,
  };
};

const wantsPage = (accept: string | undefined): boolean => accept === undefined || /text\/html|\*\/\*/i.test(accept);

const pageRoutes = (): Route[] => {
  const assets = loadDashboardAssets();
  const show = { method: 'GET', alsoHead: true, tag: 'Dashboard', access: 'public' } as const;
  const page = ({ request, params }: Call): Reply => {
    const isFile = /^(?:api|assets)(?:\/|$)/.test(params['*'] ?? '');
    if (isFile || !wantsPage(request.headers.accept)) throw nothingHere();
    return assets.page(request);
  };
  return [
    { ...show, path: root, summary: 'The dashboard', handle: page },
    { ...show, path: `${root}/*`, summary: 'The dashboard', handle: page },
    {
      ...show,
      path: `${root}/assets/:name`,
      summary: 'Its script and style',
      handle: ({ request, params }) => assets.asset(request, params.name!),
    },
  ];
};

/** Route names must be unique: the second of two routes would never be called. */
const refuseDoubles = (rows: readonly { readonly name: DashboardCallName }[]): void => {
  const names = rows.map(row => row.name);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined) throw new Error(`the dashboard has a duplicate route ${double}`);
};

/** The dashboard's app and API, and the rules for the origin that serves them. */
export const createDashboardSite = (
  context: Context,
  rows: readonly (DashboardRoute | PublicRoute)[],
  limiter: RateLimiter,
): { routes: Route[] } & Pick<ServerOptions, 'headersFor' | 'arrive'> => {
  refuseDoubles(rows);
  const gate = createGate(context, limiter);
  const redirect = (location: string): Reply => ({ status: 302, body: '', headers: { location } });
  const isForUs = ({ raw }: FastifyRequest): boolean =>
    context.dashboard.isAlone && (raw as Incoming).isForDashboard === true;

  const whetherBelow = new Map<string, boolean>();
  const isOurRoute = (route: string): boolean => {
    if (!whetherBelow.has(route)) whetherBelow.set(route, isBelow.test(route));
    return whetherBelow.get(route)!;
  };
  /**
   * Uses the matched route, because one path has many spellings. Without a route, only the path itself is left to
   * check.
   */
  const isOurs = (request: FastifyRequest, route: string | null): boolean =>
    route === null ? isBelow.test(pathOf(request)) : isOurRoute(route);

  /** On a separate origin, the dashboard serves nothing else, and no other origin serves the dashboard. */
  const arriveAlone = (request: FastifyRequest, route: string | null): Reply | null => {
    if (isForUs(request) && pathOf(request) === '/') return redirect(root);
    if (route === iconPath) return null;
    if (isForUs(request) !== isOurs(request, route)) throw nothingHere();
    return null;
  };

  /** A person opened the root URL in a browser. Programs get 404 there, as at any unknown path. */
  const isFrontDoor = (request: FastifyRequest, route: string | null): boolean =>
    route === null &&
    pathOf(request) === '/' &&
    (request.method === 'GET' || request.method === 'HEAD') &&
    /text\/html/i.test(request.headers.accept ?? '');

  return {
    routes: [...rows.map(row => apiRoute(context, row, gate)), ...pageRoutes()],
    headersFor: (request, route) => (isOurs(request, route) || isForUs(request) ? dashboardHeaders : []),
    arrive(request, route, environment) {
      const { dashboard } = context;
      if (dashboard.isAlone) return arriveAlone(request, route);
      if (isFrontDoor(request, route)) return redirect(environment === 'production' ? root : `${dashboard.url}${root}`);
      if (!isOurs(request, route) || environment === 'production') return null;
      if (request.method !== 'GET' && request.method !== 'HEAD') throw nothingHere();
      return redirect(`${dashboard.url}${targetOf(request)}`);
    },
  };
};
