import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { Environment, Scope } from '../core/environment.ts';
import type { Permission } from '../core/permissions.ts';
import type { Caller } from '../storage/accounts.ts';
import type { Body } from './body.ts';

/** What a handler is given: a request that has passed authentication, limits and validation. */
export type Call = {
  readonly environment: Environment;
  /** Of the client, as far as proxies that are trusted tell it. */
  readonly address: string;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: Body | undefined;
  /** The caller, on routes that need one. */
  readonly caller: Caller | null;
  readonly request: FastifyRequest;
};

export type Reply = {
  status?: number;
  body: string | Buffer;
  replayed?: boolean;
  contentType?: string;
  headers?: Readonly<Record<string, string>>;
  stream?: ReplyStream;
};

/** Goes on with an answer after its head, in place of a body. */
export type ReplyStream = {
  /** Ends it when it likes. */
  open(response: ServerResponse): void;
  /** Comes last. Gives back what was taken for the stream, where it was never opened. */
  drop(): void;
};

/**
 * What is said beside an answer, gathered on the way to it: names, in lower case and each once, and values in turn. An
 * object of them is dearer to make and to read.
 */
export type AnswerHeaders = (string | number)[];

/** A request before anything of it but its head was looked at. */
export type Arrival = {
  readonly environment: Environment;
  readonly address: string;
  readonly headers: AnswerHeaders;
};

/** Lets a request in, or throws its refusal. */
export type Admission = (request: FastifyRequest, arrival: Arrival) => Promise<void>;

/** One row of the API: what is served, documented and tested comes from the same table. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With :parameters, as the router wants it. */
  readonly path: string;
  /** A GET that answers HEAD as well: for pages, whose readers may be anybody's. */
  readonly alsoHead?: boolean;
  /** The body is one that a browser makes from a form, and no other. */
  readonly takesForm?: boolean;
  readonly summary: string;
  readonly tag: 'Payments' | 'Webhooks' | 'Networks' | 'Sandbox' | 'System' | 'Checkout' | 'Dashboard';
  /** A permission, `public` (limited by client address), or `probe` (not limited: monitors call it); or checks of its own. */
  readonly access: Permission | 'public' | 'probe' | Admission;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly bodyOptional?: boolean;
  /** Where a body may be larger than others. */
  readonly bodyBytes?: number;
  readonly answer?: TSchema;
  readonly handle: (call: Call) => Promise<Reply> | Reply;
};

export const callerOf = (call: Call): Caller => {
  if (!call.caller) throw new Error('this route has no caller');
  return call.caller;
};

export const scopeOf = (call: Call): Scope => callerOf(call);
