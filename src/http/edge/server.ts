import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { rights } from '../../core/access/rights.ts';
import type { Environment } from '../../core/environment.ts';
import { errorBody, FlorinError, invalid } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { parseTraceparent, type TraceContext } from '../../core/traceContext.ts';
import type { Caller } from '../../storage/access/accounts.ts';
import { isUnavailable } from '../../storage/database.ts';
import { type Authentication, type AuthenticationOptions, createAuthentication } from './authenticate.ts';
import { addBodyParsers, bodyOf, unsupported } from './bodyParsers.ts';
import { createClientAddress } from './clientAddress.ts';
import { methodsOf, refuseUnknown } from './refuseUnknown.ts';
import type { AnswerHeaders, Reply, Route } from './route.ts';
import { compileWhenNeeded, describeInvalid, prepareInput } from './validation.ts';

export type ServerOptions = AuthenticationOptions & {
  routes: readonly Route[];
  trustedProxies: readonly string[];
  requestId: () => string;
  log: Log;
  access: (line: AccessLine) => void;
  /** Whether to send Strict-Transport-Security. Not for loopback names. */
  strictTransport: (environment: Environment) => boolean;
  /** Further headers that every response at this URL has, errors included. */
  headersFor: (request: FastifyRequest, route: string | null) => Readonly<AnswerHeaders>;
  /** Runs before the route: throws to reject, returns a reply to respond, or null to continue. */
  arrive: (request: FastifyRequest, route: string | null, environment: Environment) => Reply | null;
  /** The error as a page, for URLs that people open; null for all others. */
  errorPage: (request: FastifyRequest, error: FlorinError, cause: unknown) => Reply | null;
};

/** The access log entry. It has the route's pattern instead of the URL, so that no client input reaches the log. */
export type AccessLine = {
  requestId: string;
  environment: Environment;
  method: string;
  route: string | null;
  status: number;
  /** Until the response was written, or until a stream ended. */
  durationMs: number;
  address: string;
  accountId: string | null;
  keyId: string | null;
  /** Of the request's `traceparent`; absent if it has none. */
  traceId?: string;
};

/** Set by the listener, or by the Host header if two share a port. */
export type Incoming = IncomingMessage & { environment?: Environment; isForDashboard?: boolean };

type State = {
  startedMs: number;
  /** The route's pattern; null if no route matched. */
  route: string | null;
  environment: Environment;
  address: string;
  caller: Caller | null;
  trace: TraceContext | null;
  /** Headers to add to the response. */
  headers: AnswerHeaders;
  isNoted: boolean;
};

const stateKey = Symbol('state');
type FlorinRequest = FastifyRequest & { [stateKey]?: State };

const jsonType = 'application/json; charset=utf-8';
/** Of every answer, errors included, that has no others. Answers contain keys, secrets and who paid what. */
const usualHeaders: Readonly<AnswerHeaders> = ['x-content-type-options', 'nosniff', 'cache-control', 'no-store'];

/** Converts anything thrown to an error response. An internal error reveals no details. */
const answerFor = (error: unknown, log: Log, requestId: string): FlorinError => {
  if (error instanceof FlorinError) return error;
  const shape = error as { validation?: unknown; code?: unknown; statusCode?: unknown };
  if (Array.isArray(shape.validation)) return describeInvalid(shape.validation);
  if (isUnavailable(error)) {
    log.error({ requestId, code: shape.code }, 'the database is unavailable');
    return new FlorinError('service_unavailable', 'The service cannot reach its database. Try again shortly.');
  }
  if (shape.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupported();
  if (typeof shape.statusCode === 'number' && shape.statusCode >= 400 && shape.statusCode < 500) {
    return invalid(undefined, 'The request could not be understood.');
  }
  log.error({ requestId, err: error }, 'a request failed');
  return new FlorinError(
    'internal_error',
    'Something went wrong in the service. If it keeps failing, report the requestId.',
  );
};

/** The log, and the function that writes the access log entry. */
type Notes = { readonly log: Log; readonly note: (request: FlorinRequest, status: number) => void };

/** The response's own headers override the collected ones. */
const headersOf = ({ headers }: State, answer: Reply): AnswerHeaders => {
  const own = answer.headers ?? {};
  const pairs: AnswerHeaders = ['content-type', answer.contentType ?? jsonType];
  for (let i = 0; i < headers.length; i += 2) if (!(headers[i]! in own)) pairs.push(headers[i]!, headers[i + 1]!);
  for (const name in own) for (const value of [own[name]!].flat()) pairs.push(name, value);
  if (answer.replayed) pairs.push('idempotent-replayed', 'true');
  if (!answer.stream && answer.status !== 304) pairs.push('content-length', Buffer.byteLength(answer.body));
  return pairs;
};

/** Writes the response directly: the framework's `send` takes a tenth of the time of a page. */
const sendReply = ({ log, note }: Notes, reply: FastifyReply, answer: Reply): void => {
  const { status = 200, body, stream } = answer;
  const { raw } = reply;
  const request: FlorinRequest = reply.request;
  const headers = headersOf(request[stateKey]!, answer);
  reply.code(status).hijack();
  try {
    // The client of a stream may have left before the response.
    if (stream && !raw.closed) raw.once('close', () => note(request, status));
    raw.writeHead(status, headers);
    if (stream) stream.open(raw);
    else raw.end(body);
  } catch (error) {
    // Nothing else would end the response, and the client would wait forever.
    log.error({ requestId: request.id, err: error }, 'a response could not be sent');
    const said = raw.headersSent ? status : 500;
    raw.destroy();
    note(request, said);
    return;
  }
  if (!stream || raw.closed) note(request, status);
};

const sendError = (notes: Notes, reply: FastifyReply, error: FlorinError, page: Reply | null): void => {
  const request: FlorinRequest = reply.request;
  const { headers } = request[stateKey]!;
  const retryAfterSeconds = error.retryAfterSeconds ?? (error.status === 503 ? 2 : null);
  if (retryAfterSeconds !== null) headers.push('retry-after', retryAfterSeconds);
  if (error.status === 401) headers.push('www-authenticate', 'Bearer');
  sendReply(notes, reply, page ?? { status: error.status, body: errorBody(error, request.id) });
};

const admit = async (
  access: Route['access'],
  authentication: Authentication,
  request: FastifyRequest,
  state: State,
): Promise<Caller | null> => {
  if (access === 'probe') {
    // Probes come all the time, from load balancers and monitors. Many open a connection for each and leave it open. Kept
    // connections would use up the places of that address, and the next probe would be refused: a false alarm.
    state.headers.push('connection', 'close');
    return null;
  }
  if (access === 'public') return authentication.admitPublic(request, state);
  if (typeof access !== 'function') return authentication.require(request, state, rights[access].permission);
  await access(request, state);
  return null;
};

/** Prepares the request. Returns false if it was already answered. */
type Enter = (request: FlorinRequest, reply: FastifyReply, route: string | null) => boolean;

type EntryChecks = { readonly enter: Enter; readonly authentication: Authentication };

const register = (app: FastifyInstance, route: Route, { enter, authentication }: EntryChecks, notes: Notes): void => {
  app.route({
    method: methodsOf(route),
    url: route.path,
    config: { takesForm: route.takesForm === true, bodyBytes: route.bodyBytes },
    exposeHeadRoute: false,
    schema: {
      ...(route.query ? { querystring: route.query } : {}),
      ...(route.body ? { body: route.body } : {}),
    },
    onRequest: async (request: FlorinRequest, reply) => {
      if (!enter(request, reply, route.path)) return;
      const state = request[stateKey]!;
      state.caller = await admit(route.access, authentication, request, state);
    },
    ...(route.query || route.bodyOptional ? { preValidation: prepareInput(route) } : {}),
    handler: async (request: FlorinRequest, reply) => {
      const { environment, address, caller, trace } = request[stateKey]!;
      const answer = await route.handle({
        environment,
        address,
        requestId: request.id,
        params: request.params as Record<string, string>,
        query: request.query,
        body: bodyOf(request),
        caller,
        trace,
        request,
      });
      try {
        sendReply(notes, reply, answer);
      } finally {
        answer.stream?.drop();
      }
    },
  });
};

/** Runs once per request, at the first end of its response. */
const createNote =
  (access: ServerOptions['access']): Notes['note'] =>
  (request, status) => {
    const state = request[stateKey]!;
    if (state.isNoted) return;
    state.isNoted = true;
    const line: AccessLine = {
      requestId: request.id,
      environment: state.environment,
      method: request.method,
      route: state.route,
      status,
      durationMs: Math.round((performance.now() - state.startedMs) * 100) / 100,
      address: state.address,
      accountId: state.caller?.accountId ?? null,
      keyId: state.caller?.keyId ?? null,
    };
    if (state.trace !== null) line.traceId = state.trace.traceId;
    access(line);
  };

/** Records what the headers tell about a request. Returns the protocol that the proxies report. */
const createBegin = ({ trustedProxies, headersFor, strictTransport }: ServerOptions) => {
  const clientAddress = createClientAddress(trustedProxies);
  return (request: FlorinRequest, route: string | null): string | null => {
    const { address, proto } = clientAddress(request.raw);
    const environment = (request.raw as Incoming).environment ?? 'sandbox';
    const headers: AnswerHeaders = ['x-request-id', request.id, ...usualHeaders, ...headersFor(request, route)];
    if (strictTransport(environment)) headers.push('strict-transport-security', 'max-age=31536000');
    const trace = parseTraceparent(request.headers.traceparent);
    const startedMs = performance.now();
    request[stateKey] = { startedMs, route, environment, address, caller: null, trace, headers, isNoted: false };
    return proto;
  };
};

/** Builds the request handler that all listeners share. */
export const createRequestHandler = async (
  options: ServerOptions,
): Promise<{ handler: RequestListener; close(): Promise<void> }> => {
  const { log, requestId } = options;
  const notes: Notes = { log, note: createNote(options.access) };
  const begin = createBegin(options);
  let handler: RequestListener = () => {};
  const app = fastify({
    logger: false,
    genReqId: requestId,
    bodyLimit: 1024 ** 3,
    // Longer than any request line, so that an id that is too long gets the normal 404.
    routerOptions: { maxParamLength: 65_536, ignoreTrailingSlash: false, caseSensitive: true },
    frameworkErrors: (error, request, reply) => {
      const answer = answerFor(error, log, request.id);
      // No hook has run here, and there is no route.
      begin(request as FlorinRequest, null);
      sendError(notes, reply as unknown as FastifyReply, answer, options.errorPage(request, answer, error));
    },
    serverFactory: handle => {
      handler = handle as RequestListener;
      return createServer(handler);
    },
  });
  const authentication = createAuthentication(options);
  app.setValidatorCompiler(compileWhenNeeded);
  addBodyParsers(app);

  const enter: Enter = (request, reply, route) => {
    const proto = begin(request, route);
    if (proto !== null && proto !== 'https') {
      throw new FlorinError('https_required', 'Use HTTPS. The request was not executed.');
    }
    const answer = options.arrive(request, route, request[stateKey]!.environment);
    if (answer) sendReply(notes, reply, answer);
    return !answer;
  };
  // Each route calls `enter` itself, because looking up the route through the framework is expensive.
  app.addHook('onRequest', (request: FlorinRequest, reply, done) => {
    if (!request.is404 || enter(request, reply, null)) done();
  });
  app.setErrorHandler((error, request, reply) => {
    const answer = answerFor(error, log, request.id);
    sendError(notes, reply, answer, options.errorPage(request, answer, error));
  });
  const refuse = refuseUnknown(options.routes);
  app.setNotFoundHandler(async (request: FlorinRequest) => {
    const state = request[stateKey]!;
    await authentication.admitPublic(request, state);
    refuse(request, state.headers);
  });
  for (const route of options.routes) register(app, route, { enter, authentication }, notes);
  await app.ready();
  return { handler, close: () => app.close() };
};
