import type { FastifyRequest } from 'fastify';
import { mayDo } from '../../core/dashboard/roles.ts';
import type { SessionEnd } from '../../core/dashboard/sessionApi.ts';
import { FlorinError } from '../../core/errors.ts';
import type { RateLimit } from '../../core/plans.ts';
import type { Context } from '../../engine/context.ts';
import { findSignedIn, type SignedInPerson, whyEnded } from '../../engine/dashboard/sessions.ts';
import type { RateLimiter } from '../../engine/rateLimiter.ts';
import { limitSubject } from '../clientAddress.ts';
import type { Admission } from '../route.ts';
import type { DashboardRoute, PublicRoute } from './dashboardRoute.ts';
import { tokenOf } from './sessionCookie.ts';

/** A page asks for a handful of things at once, and several people may share an address. */
const addressRate: RateLimit = { perMinute: 1_200, burst: 600 };
/** Signing in, and links: people do that by hand. */
const knockRate: RateLimit = { perMinute: 60, burst: 0 };

const jsonType = /^application\/json(?:\s*;|\s*$)/i;

export type Gate = {
  /** All checks of a call, in the order in which they tell least: origin, address, session, role, proof. */
  admission(row: DashboardRoute | PublicRoute): Admission;
  /** Whom the checks found. */
  personOf(request: FastifyRequest): SignedInPerson | null;
  /** Why the session of the request's cookie is over; null where it has no cookie. */
  endOf(request: FastifyRequest): Promise<SessionEnd | null>;
};

const foreign = (): FlorinError =>
  new FlorinError('permission_denied', 'The dashboard takes requests from its own pages alone.');

/**
 * Cookies alone do not say which page asks. What changes something names its origin, which browsers write and pages
 * cannot; where the newer header is sent it must agree. Reading is guarded by it, too, as far as it is sent.
 */
const refuseForeign = ({ method, headers }: FastifyRequest, origin: string): void => {
  const site = headers['sec-fetch-site'];
  if (method === 'GET' || method === 'HEAD') {
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreign();
    return;
  }
  if (headers.origin !== origin || (site !== undefined && site !== 'same-origin')) throw foreign();
  const type = headers['content-type'];
  if (type !== undefined && !jsonType.test(type)) {
    throw new FlorinError('unsupported_media_type', 'Send the body as application/json in UTF-8, without compression.');
  }
};

/** The app says so of what it reads while nobody is at the screen. Changes are always somebody's. */
const isBackground = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && headers['x-florin-background'] === '1';

export const createGate = (context: Context, limiter: RateLimiter): Gate => {
  const people = new WeakMap<FastifyRequest, SignedInPerson>();

  const count = async (subject: string, rate: RateLimit): Promise<void> => {
    const { allowed, retryAfterSeconds: seconds } = await limiter.take(subject, rate);
    if (allowed) return;
    const message = `Too many requests from your address. Try again in ${seconds} s.`;
    throw new FlorinError('rate_limit_exceeded', message, undefined, seconds);
  };

  const identify = async (request: FastifyRequest): Promise<SignedInPerson | null> => {
    const token = tokenOf(request);
    const person = token === null ? null : await findSignedIn(context, token, { isUse: !isBackground(request) });
    if (person) people.set(request, person);
    return person;
  };

  return {
    admission:
      row =>
      async (request, { address }) => {
        refuseForeign(request, context.dashboard.url);
        await count(`dashboard/${limitSubject(address)}`, addressRate);
        if (row.action === 'public' && request.method !== 'GET') {
          await count(`knock/${limitSubject(address)}`, knockRate);
        }
        const person = await identify(request);
        if (row.action === 'public') return;
        if (!person) throw new FlorinError('unauthorized', 'Sign in first.');
        if (row.action !== 'signed-in' && !mayDo(person.role, row.action)) {
          throw new FlorinError('permission_denied', `Your role, ${person.role}, does not allow this.`);
        }
        if (row.stepUp && !person.provenUntil) {
          throw new FlorinError('permission_denied', 'Prove first that it is you.', 'proof');
        }
      },
    personOf: request => people.get(request) ?? null,
    async endOf(request) {
      const token = tokenOf(request);
      return token === null ? null : whyEnded(context, token);
    },
  };
};
