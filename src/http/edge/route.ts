import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { KeyAction } from '../../core/access/rights.ts';
import type { Environment, Scope } from '../../core/environment.ts';
import type { TraceContext } from '../../core/traceContext.ts';
import type { Acting } from '../../engine/audit/acting.ts';
import { keyActor } from '../../engine/audit/audit.ts';
import type { Caller } from '../../storage/access/accounts.ts';
import type { Body } from './body.ts';

/** The input of a handler: a request that passed authentication, limits and validation. */
export type Call = {
  readonly environment: Environment;
  /** IP address of the client, from trusted proxies or the connection. */
  readonly address: string;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: Body | undefined;
  /** The caller; null on public routes without a key. */
  readonly caller: Caller | null;
  /** Of the request's `traceparent`; null if it has none. */
  readonly trace: TraceContext | null;
  readonly request: FastifyRequest;
};

export type Reply = {
  status?: number;
  body: string | Buffer;
  replayed?: boolean;
  contentType?: string;
  /** A list is sent as one header for each value. */
  headers?: Readonly<Record<string, string | readonly string[]>>;
  stream?: ReplyStream;
};

/** Continues a response after its headers, instead of a body. */
export type ReplyStream = {
  /** Takes over the response and ends it later. */
  open(response: ServerResponse): void;
  /** Always called last. Frees the slot if the stream was never opened. */
  drop(): void;
};

/**
 * Response headers as alternating names and values. Names are lower-case and unique. An object would be slower to build
 * and to read.
 */
export type AnswerHeaders = (string | number)[];

/** A request of which only the headers were read. */
export type Arrival = {
  readonly environment: Environment;
  readonly address: string;
  readonly headers: AnswerHeaders;
  /** Set as soon as the key is known, so that the access log also names the key of a request that is refused. */
  caller: Caller | null;
};

/** Allows a request, or throws the error to respond with. */
export type Admission = (request: FastifyRequest, arrival: Arrival) => Promise<void>;

/** One route of the API. The server, the documentation and the tests use the same table. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With :parameters, in the router's syntax. */
  readonly path: string;
  /** A GET that also answers HEAD. For pages, because any client may request them. */
  readonly alsoHead?: boolean;
  /** Accepts only a body that a browser sends for a form. */
  readonly takesForm?: boolean;
  readonly summary: string;
  readonly tag: 'Payments' | 'Webhooks' | 'Networks' | 'Sandbox' | 'System' | 'Checkout' | 'Dashboard';
  /**
   * An action that needs a key with its permission, `public` (limited by IP address), `probe` (for monitoring: not
   * limited, and its connection is closed), or a function with its own checks.
   */
  readonly access: KeyAction | 'public' | 'probe' | Admission;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly bodyOptional?: boolean;
  /** Overrides the default limit of the body. */
  readonly bodyBytes?: number;
  readonly answer?: TSchema;
  readonly handle: (call: Call) => Promise<Reply> | Reply;
};

/** A route of the public API, with its name in the OpenAPI document. */
export type ApiRoute = Route & { readonly operationId: string };

export const callerOf = (call: Call): Caller => {
  if (!call.caller) throw new Error('this route has no caller');
  return call.caller;
};

export const scopeOf = (call: Call): Scope => callerOf(call);

/** The key as the actor in the audit log. */
export const actingOf = (call: Call): Acting => {
  const { accountId, environment, keyId } = callerOf(call);
  return { scope: { accountId, environment }, actor: keyActor(keyId), address: call.address, trace: call.trace };
};
