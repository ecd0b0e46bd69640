import type { FastifyRequest } from 'fastify';
import { type Action, mayDo } from '../../core/access/rights.ts';
import type { SessionEnd } from '../../core/api/sessionApi.ts';
import type { Environment } from '../../core/environment.ts';
import { FlorinError } from '../../core/errors.ts';
import type { RateLimit } from '../../core/plans.ts';
import type { RateLimiter } from '../../core/tokenBucket.ts';
import { someKnownDevice } from '../../engine/access/knownDevices.ts';
import { proofNeeded, type StepUp } from '../../engine/access/proofNeeded.ts';
import { findSignedIn, type SignedInPerson, whyEnded } from '../../engine/access/sessions.ts';
import { refuseInReview } from '../../engine/chain/reviewRestore.ts';
import type { Context } from '../../engine/context.ts';
import { limitSubject } from '../edge/clientAddress.ts';
import type { Admission } from '../edge/route.ts';
import { deviceCookieOf, publicPort, tokenOf } from './cookies.ts';
import type { DashboardRoute, PublicRoute } from './dashboardRoute.ts';

/** A page sends several requests at once, and several people may share an IP address. */
const addressRate: RateLimit = { perMinute: 1_200, burst: 600 };
/** For sign-in, setup and invitation links. People do these by hand. */
const knockRate: RateLimit = { perMinute: 60, burst: 0 };

const jsonType = /^application\/json(?:\s*;|\s*$)/i;

export type Gate = {
  /** The checks of a call. The first ones reveal the least: origin, IP address, session, role, recent confirmation. */
  admission(row: DashboardRoute | PublicRoute): Admission;
  /** The signed-in person that the checks found. */
  personOf(request: FastifyRequest): SignedInPerson | null;
  /** Why the session of the request's cookie ended; null without a cookie. */
  endOf(request: FastifyRequest): Promise<SessionEnd | null>;
};

const foreign = (): FlorinError =>
  new FlorinError('permission_denied', 'The dashboard accepts requests only from its own pages.');

/**
 * Prevents cross-site requests: a cookie does not tell which page sent a request. A write must have our Origin, which
 * browsers set and pages cannot change. If Sec-Fetch-Site is present, it must match too. Reads check only
 * Sec-Fetch-Site.
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

/** The app marks reads that it makes while nobody uses it. Writes are always made by a person. */
const isBackground = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && headers['x-florin-background'] === '1';

/** These are about the session itself, in whichever account it is open. */
const ofTheSession: readonly string[] = ['POST /session/account', 'POST /sign-out'];

/** Another tab may have opened another account. What a page of the first one sends must not be done in the second. */
const refuseOtherAccount = ({ headers }: FastifyRequest, { name }: { name: string }, person: SignedInPerson): void => {
  const shown = headers['x-florin-account'];
  if (shown === undefined || shown === person.accountId || ofTheSession.includes(name)) return;
  throw new FlorinError('conflict', 'This page shows another account than the one that is open. Reload it.', 'account');
};

/** What stays closed until the review after a restore. Everything by which an owner puts things in order stays open. */
const closedInReview: readonly string[] = [
  'payments.create',
  'payments.cancel',
  'payments.resolve',
] satisfies readonly Action[];

/** The query is not validated yet. Whatever is not plainly the sandbox counts as production. */
const environmentOf = ({ query }: FastifyRequest): Environment => {
  const { environment = 'sandbox' } = query as { environment?: unknown };
  return environment === 'sandbox' ? 'sandbox' : 'production';
};

const refuseUnproven = async (
  context: Context,
  person: SignedInPerson,
  stepUp: StepUp,
  environment: Environment,
): Promise<void> => {
  const missing = await proofNeeded(context, person, stepUp, environment);
  if (missing === null) return;
  if (missing.kind === 'any') throw new FlorinError('permission_denied', 'Confirm your identity first.', 'proof');
  const message = missing.hasSecondFactor
    ? 'Confirm your identity with a passkey, or with your password and a code.'
    : 'A password alone is not enough for this. Add a passkey or an authenticator app on the page My account.';
  throw new FlorinError('permission_denied', message, 'secondFactor');
};

export const createGate = (context: Context, limiter: RateLimiter): Gate => {
  const people = new WeakMap<FastifyRequest, SignedInPerson>();

  const count = async (subject: string, rate: RateLimit): Promise<void> => {
    const { allowed, retryAfterSeconds: seconds } = await limiter.take(subject, rate);
    if (allowed) return;
    const message = `Too many requests from your IP address. Try again in ${seconds} s.`;
    throw new FlorinError('rate_limit_exceeded', message, undefined, seconds);
  };

  /** Somebody who guesses at the same IP address does not use up the sign-ins of a known device. */
  const knockerOf = (request: FastifyRequest, address: string): string => {
    const device = someKnownDevice(context, deviceCookieOf(request, context.dashboard.url));
    return device === null ? limitSubject(address) : `device/${device}`;
  };

  const identify = async (request: FastifyRequest): Promise<SignedInPerson | null> => {
    const { url } = context.dashboard;
    const token = tokenOf(request, url);
    const use = { port: publicPort(url), isUse: !isBackground(request) };
    const person = token === null ? null : await findSignedIn(context, token, use);
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
          await count(`knock/${knockerOf(request, address)}`, knockRate);
        }
        const person = await identify(request);
        if (row.action === 'public') return;
        if (!person) throw new FlorinError('unauthorized', 'Sign in first.');
        refuseOtherAccount(request, row, person);
        if (row.action !== 'signed-in' && !mayDo(person.role, row.action)) {
          throw new FlorinError('permission_denied', `Your role, ${person.role}, does not allow this.`);
        }
        if (request.method !== 'GET' && closedInReview.includes(row.action)) {
          await refuseInReview(context, { accountId: person.accountId, environment: environmentOf(request) });
        }
        if (row.stepUp) await refuseUnproven(context, person, row.stepUp, environmentOf(request));
      },
    personOf: request => people.get(request) ?? null,
    async endOf(request) {
      const { url } = context.dashboard;
      const token = tokenOf(request, url);
      return token === null ? null : whyEnded(context, token, publicPort(url));
    },
  };
};
