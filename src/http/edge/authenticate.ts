import type { FastifyRequest } from 'fastify';
import type { Permission } from '../../core/access/rights.ts';
import type { Environment } from '../../core/environment.ts';
import { FlorinError } from '../../core/errors.ts';
import { type RateLimit, rateLimitOf } from '../../core/plans.ts';
import type { RateDecision, RateLimiter } from '../../core/tokenBucket.ts';
import type { Callers } from '../../engine/access/callers.ts';
import type { Caller } from '../../storage/access/accounts.ts';
import { createAddressMatcher, limitSubject } from './clientAddress.ts';
import type { AnswerHeaders, Arrival } from './route.ts';

/** A parsed API key. */
export type ParsedKey = { readonly environment: Environment; readonly hash: string };

export type AuthenticationOptions = {
  callers: Callers;
  limiter: RateLimiter;
  parseKey: (text: string) => ParsedKey | null;
  nowMs: () => number;
  /** The base URL of an environment, for the hint in error messages. */
  publicUrl: (environment: Environment) => string;
  /** Called for each request whose key is accepted. */
  noteUse: (caller: Caller) => void;
};

export type Authentication = {
  /** Returns the caller after rate limit and permission checks; throws if a check fails. */
  require(request: FastifyRequest, at: Arrival, permission: Permission): Promise<Caller>;
  /**
   * For public routes: a request with a valid key counts towards its account, any other request towards its IP address.
   */
  admitPublic(request: FastifyRequest, at: Arrival): Promise<Caller | null>;
};

const publicRate: RateLimit = { perMinute: 600, burst: 0 };
const failureRate: RateLimit = { perMinute: 60, burst: 0 };

/** When the cache has this many keys, it is cleared. It only saves work. */
const maximumTokens = 10_000;

const bearer = /^Bearer {1,4}([\x21-\x7e]{1,256})$/i;
const usualScheme = 'Bearer ';

const tooMany = ({ retryAfterSeconds: seconds }: RateDecision, what: string): FlorinError =>
  new FlorinError('rate_limit_exceeded', `${what} Try again in ${seconds} s.`, undefined, seconds);

const addressRefused = (): FlorinError =>
  new FlorinError('permission_denied', 'This key does not allow your IP address.');

export const createAuthentication = (options: AuthenticationOptions): Authentication => {
  const { callers, limiter, parseKey, nowMs, publicUrl, noteUse } = options;
  const matchers = new Map<string, (address: string) => boolean>();

  const isAllowedFrom = (caller: Caller, address: string): boolean => {
    if (!caller.ipAllow) return true;
    const list = caller.ipAllow.join(',');
    let matcher = matchers.get(list);
    if (!matcher) {
      if (matchers.size > 1_000) matchers.clear();
      matcher = createAddressMatcher(caller.ipAllow);
      matchers.set(list, matcher);
    }
    return matcher(address);
  };

  /**
   * Parsed keys of existing callers. Checksum and hash of a key never change. Anyone can compute a valid checksum, so a
   * key is cached only after its owner is found; otherwise anyone could fill the cache.
   */
  const known = new Map<string, ParsedKey>();
  const remember = (token: string, key: ParsedKey): void => {
    if (known.has(token)) return;
    if (known.size >= maximumTokens) known.clear();
    known.set(token, key);
  };

  /** A cached key skips the regular expression. */
  const tokenIn = (header: string): string | undefined => {
    const usual = header.startsWith(usualScheme) ? header.slice(usualScheme.length) : '';
    return known.has(usual) ? usual : bearer.exec(header)?.[1];
  };

  const judge = (caller: Caller | null, environment: Environment): Caller | string => {
    if (!caller || caller.environment !== environment) return 'The API key is not valid.';
    if (caller.revokedAt) return 'The API key was revoked.';
    if (caller.expiresAt && caller.expiresAt.getTime() <= nowMs()) return 'The API key has expired.';
    return caller;
  };

  /** Returns the caller of the key in the header, or the reason why the key is not accepted. */
  const identify = async (request: FastifyRequest, environment: Environment): Promise<Caller | string> => {
    const header = request.headers.authorization;
    const token = header === undefined ? undefined : tokenIn(header);
    const key = token === undefined ? null : (known.get(token) ?? parseKey(token));
    if (token === undefined || !key) {
      const isMissing = header === undefined || /^bearer *$/i.test(header);
      if (isMissing) return 'An API key is required: send the header Authorization: Bearer <API_KEY>.';
      return 'The API key is not valid.';
    }
    if (key.environment !== environment) {
      return `This is a ${key.environment} key. Use it at ${publicUrl(key.environment)}.`;
    }
    const caller = await callers.find(key.hash);
    if (caller) remember(token, key);
    return judge(caller, environment);
  };

  const count = async (caller: Caller, headers: AnswerHeaders): Promise<void> => {
    noteUse(caller);
    const rate = rateLimitOf(caller, caller.environment);
    const decision = await limiter.take(caller.countedUnder, rate);
    const { limit, remaining, resetSeconds } = decision;
    headers.push('x-ratelimit-limit', limit, 'x-ratelimit-remaining', remaining, 'x-ratelimit-reset', resetSeconds);
    if (!decision.allowed) throw tooMany(decision, 'This account has reached its rate limit.');
  };

  const refuse = async ({ address }: Arrival, error: FlorinError): Promise<never> => {
    const decision = await limiter.take(`failures/${limitSubject(address)}`, failureRate);
    if (!decision.allowed) throw tooMany(decision, 'Too many requests without a valid key.');
    throw error;
  };

  const admitUnknown = async ({ address }: Arrival): Promise<null> => {
    const decision = await limiter.take(`public/${limitSubject(address)}`, publicRate);
    if (!decision.allowed) throw tooMany(decision, 'Too many requests from your IP address.');
    return null;
  };

  return {
    async require(request, at, permission) {
      const caller = await identify(request, at.environment);
      if (typeof caller === 'string') return refuse(at, new FlorinError('unauthorized', caller));
      at.caller = caller;
      // Before the account's limit: whoever found a key must not use up the limit of its owner.
      if (!isAllowedFrom(caller, at.address)) return refuse(at, addressRefused());
      await count(caller, at.headers);
      if (!caller.scopes.includes(permission)) {
        throw new FlorinError('permission_denied', `This key does not have the permission ${permission}.`);
      }
      return caller;
    },
    async admitPublic(request, at) {
      if (request.headers.authorization === undefined) return admitUnknown(at);
      const caller = await identify(request, at.environment);
      if (typeof caller === 'string' || !isAllowedFrom(caller, at.address)) return admitUnknown(at);
      at.caller = caller;
      await count(caller, at.headers);
      return caller;
    },
  };
};
