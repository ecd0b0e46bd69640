import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import type { RateLimiter } from '../../src/core/tokenBucket.ts';
import type { Context } from '../../src/engine/context.ts';
import { createCheckoutSite } from '../../src/http/checkout/checkoutRoutes.ts';
import { allDashboardRoutes } from '../../src/http/dashboard/allRoutes.ts';
import { createDashboardSite } from '../../src/http/dashboard/dashboardSite.ts';
import { iconRoute } from '../../src/http/docs/iconRoute.ts';
import type { Route } from '../../src/http/edge/route.ts';
import { allApiRoutes } from '../../src/http/v1/allRoutes.ts';
import { systemRoutes } from '../../src/http/v1/systemRoutes.ts';
import { type Recorded, readAnswers } from '../corpus/answersFile.ts';
import { atEndOfFile } from '../support/endOfFile.ts';

type Asked = Pick<Recorded, 'line' | 'status'>;

let routes: Route[];
let asked: Asked[];

const notCalled = () => Promise.reject(new Error('not called'));

/** The routes that the server registers. None of them is called here. */
const allRoutes = (): Route[] => {
  const context = { log: silentLog, clock: { nowMs: () => 0 }, dashboard: { url: '' } } as unknown as Context;
  const checkout = createCheckoutSite(context);
  atEndOfFile(checkout.stop);
  const rows = allDashboardRoutes(context, notCalled);
  const system = systemRoutes(
    context.db,
    () => [],
    () => false,
  );
  return [
    ...allApiRoutes(context, notCalled),
    ...system,
    iconRoute(),
    ...checkout.routes,
    ...createDashboardSite(context, rows, { take: notCalled } as RateLimiter).routes,
  ];
};

beforeAll(async () => {
  routes = allRoutes();
  asked = readAnswers(await readFile(new URL('../corpus/answers.txt', import.meta.url), 'utf8'));
});

const isOf = ({ method, path }: Route, { line }: Asked): boolean => {
  const [used, target] = line.replaceAll(/<[^>]*>/g, 'x').split(' ') as [string, string];
  const pattern = path
    .replaceAll('.', '\\.')
    .replaceAll(/:[a-z]+/gi, '[^/]+')
    .replace('*', '.+');
  return used === method && new RegExp(`^${pattern}$`).test(target.split('?', 1)[0]!);
};
const hits = (route: Route): Asked[] => asked.filter(each => isOf(route, each));
const namesOf = (found: readonly Route[]): string[] => found.map(({ method, path }) => `${method} ${path}`);

test('the corpus has an answer of every route that is not a refusal', () => {
  expect(routes.length).toBeGreaterThan(90);
  expect(namesOf(routes.filter(route => !hits(route).some(({ status }) => status < 400)))).toEqual([]);
});

/** These serve whoever asks, or are found under any name. */
const open = /^\/(?:healthz|readyz|openapi\.json|docs|favicon\.ico|v1\/networks|dashboard|dashboard\/\*)$/;

test('the corpus has a refusal of every route that refuses something', () => {
  const closed = routes.filter(({ path }) => !open.test(path));
  expect(namesOf(closed.filter(route => !hits(route).some(({ status }) => status >= 400)))).toEqual([]);
});
