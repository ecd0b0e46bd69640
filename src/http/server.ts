import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Environment } from '../core/environment.ts';
import { errorBody, FlorinError, invalid } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Caller } from '../storage/accounts.ts';
import { isUnavailable } from '../storage/database.ts';
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
  /** Whether answers ask browsers to use HTTPS only; not on loopback names. */
  strictTransport: (environment: Environment) => boolean;
  /** What every answer at an address says, whichever way it ends. */
  headersFor: (request: FastifyRequest, route: string | null) => Readonly<AnswerHeaders>;
  /** What an address says to a request before any route does: a refusal, or an answer in place of all others. */
  arrive: (request: FastifyRequest, route: string | null, environment: Environment) => Reply | null;
  /** An error as a page, at addresses that people open; null everywhere else. */
  errorPage: (request: FastifyRequest, error: FlorinError, cause: unknown) => Reply | null;
};

/** What is kept of every request. The route's pattern, not its URL: nothing a client wrote reaches the log. */
export type AccessLine = {
  requestId: string;
  environment: Environment;
  method: string;
  route: string | null;
  status: number;
  /** Until the answer was handed over, or, of one that goes on, until its end. */
  durationMs: number;
  address: string;
  accountId: string | null;
  keyId: string | null;
};

/** Both are decided by the listener, or by the Host header where two share one. */
export type Incoming = IncomingMessage & { environment?: Environment; isForDashboard?: boolean };

type State = {
  startedMs: number;
  /** Its pattern; null where nothing is served. */
  route: string | null;
  environment: Environment;
  address: string;
  caller: Caller | null;
  /** What is said beside whatever the answer will be. */
  headers: AnswerHeaders;
  isNoted: boolean;
};

const stateKey = Symbol('state');
type FlorinRequest = FastifyRequest & { [stateKey]?: State };

const jsonType = 'application/json; charset=utf-8';

/** Whatever was thrown, as an answer. A fault tells the caller nothing but that it happened. */
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
  return new FlorinError('internal_error', 'Something went wrong on our side. The request id helps us find it.');
};

/** What goes on beside an answer: the log, and the line that is kept of its request. */
type Notes = { readonly log: Log; readonly note: (request: FlorinRequest, status: number) => void };

/** What the answer says itself goes before what is said beside it. */
const headersOf = ({ headers }: State, answer: Reply): AnswerHeaders => {
  const own = answer.headers ?? {};
  const pairs: AnswerHeaders = ['content-type', answer.contentType ?? jsonType];
  for (let i = 0; i < headers.length; i += 2) if (!(headers[i]! in own)) pairs.push(headers[i]!, headers[i + 1]!);
  for (const name in own) pairs.push(name, own[name]!);
  if (answer.replayed) pairs.push('idempotent-replayed', 'true');
  if (!answer.stream && answer.status !== 304) pairs.push('content-length', Buffer.byteLength(answer.body));
  return pairs;
};

/** Past the framework, whose way of sending costs a tenth of a page. */
const sendReply = ({ log, note }: Notes, reply: FastifyReply, answer: Reply): void => {
  const { status = 200, body, stream } = answer;
  const { raw } = reply;
  const request: FlorinRequest = reply.request;
  const headers = headersOf(request[stateKey]!, answer);
  reply.code(status).hijack();
  try {
    // The client of a stream may have left before there was an answer.
    if (stream && !raw.closed) raw.once('close', () => note(request, status));
    raw.writeHead(status, headers);
    if (stream) stream.open(raw);
    else raw.end(body);
  } catch (error) {
    // Nobody else would answer it any more, and the client would wait for ever.
    log.error({ requestId: request.id, err: error }, 'an answer could not be sent');
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
  if (access === 'probe') return null;
  if (access === 'public') return authentication.admitPublic(request, state);
  if (typeof access !== 'function') return authentication.require(request, state, access);
  await access(request, state);
  return null;
};

/** Knows the request, and answers whether it is to go on. */
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
      const { environment, address, caller } = request[stateKey]!;
      const answer = await route.handle({
        environment,
        address,
        requestId: request.id,
        params: request.params as Record<string, string>,
        query: request.query,
        body: bodyOf(request),
        caller,
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

/** Once for each request, whichever of the ends of its answer comes first. */
const createNote =
  (access: ServerOptions['access']): Notes['note'] =>
  (request, status) => {
    const state = request[stateKey]!;
    if (state.isNoted) return;
    state.isNoted = true;
    access({
      requestId: request.id,
      environment: state.environment,
      method: request.method,
      route: state.route,
      status,
      durationMs: Math.round((performance.now() - state.startedMs) * 100) / 100,
      address: state.address,
      accountId: state.caller?.accountId ?? null,
      keyId: state.caller?.keyId ?? null,
    });
  };

/** What is known of every request from its head. Answers the protocol that it came by as far as proxies tell it. */
const createBegin = ({ trustedProxies, headersFor, strictTransport }: ServerOptions) => {
  const clientAddress = createClientAddress(trustedProxies);
  return (request: FlorinRequest, route: string | null): string | null => {
    const { address, proto } = clientAddress(request.raw);
    const environment = (request.raw as Incoming).environment ?? 'sandbox';
    const headers: AnswerHeaders = ['x-request-id', request.id, ...headersFor(request, route)];
    if (strictTransport(environment)) headers.push('strict-transport-security', 'max-age=31536000');
    const startedMs = performance.now();
    request[stateKey] = { startedMs, route, environment, address, caller: null, headers, isNoted: false };
    return proto;
  };
};

/** Builds the request handler; listeners are made elsewhere and share it. */
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
    // Longer than any request line: an id that is too long is one that nothing has, 404 like any other.
    routerOptions: { maxParamLength: 65_536, ignoreTrailingSlash: false, caseSensitive: true },
    frameworkErrors: (error, request, reply) => {
      const answer = answerFor(error, log, request.id);
      // No hook has run, and there is no route.
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
      throw new FlorinError('https_required', 'Only HTTPS is served here. Nothing was executed.');
    }
    const answer = options.arrive(request, route, request[stateKey]!.environment);
    if (answer) sendReply(notes, reply, answer);
    return !answer;
  };
  // Routes enter by themselves, since they know what they are: to ask the framework for it is dear.
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
