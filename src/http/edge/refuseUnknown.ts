import type { FastifyRequest } from 'fastify';
import { FlorinError } from '../../core/errors.ts';
import type { AnswerHeaders, Route } from './route.ts';

const pathPattern = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:[a-z]+/g, '[^/]+')}$`);

export const methodsOf = (route: Route): string[] => (route.alsoHead ? [route.method, 'HEAD'] : [route.method]);

/** Unknown paths return 404. A known path with another method returns 405 and lists the allowed methods. */
export const refuseUnknown = (routes: readonly Route[]) => {
  const known = routes.flatMap(route => methodsOf(route).map(method => ({ method, pattern: pathPattern(route.path) })));
  return (request: FastifyRequest, headers: AnswerHeaders): never => {
    const path = request.url.split('?', 1)[0]!;
    const allowed = known.filter(route => route.pattern.test(path)).map(route => route.method);
    if (allowed.length === 0 || allowed.some(method => method === request.method))
      throw new FlorinError('not_found', 'This path does not exist. The reference is at /docs.');
    headers.push('allow', [...new Set(allowed)].join(', '));
    throw new FlorinError('method_not_allowed', `This path does not support ${request.method}.`);
  };
};
