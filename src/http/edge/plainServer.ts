import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { FlorinError, invalid } from '../../core/errors.ts';
import { createExchanges } from './exchanges.ts';
import { httpOptions, type ListenerLimits } from './listenerLimits.ts';
import type { ListenerWarnings } from './listenerWarnings.ts';
import { refuseRequest, refuseSocket } from './refusal.ts';
import { complain } from './secureServer.ts';

export type PlainServer = {
  readonly server: Server;
  /** Lets each answer end its connection. */
  drain(): void;
  /** Waits for running requests and closes every other connection, also new ones. */
  finish(): void;
};

type PlainServerOptions = {
  readonly limits: ListenerLimits;
  readonly requestId: () => string;
  readonly handler: RequestListener;
  /** True if a trusted proxy terminated TLS for the request. */
  readonly servePlain: (request: IncomingMessage) => boolean;
  readonly warnings: ListenerWarnings;
};

const httpsRequired = (): FlorinError =>
  new FlorinError('https_required', 'Use HTTPS. The request was not executed. If it contained a key, replace the key.');

/** Rejects requests without TLS before reading their bodies, except those that `servePlain` allows. */
export const createPlainServer = (options: PlainServerOptions): PlainServer => {
  const { limits, requestId, handler, servePlain, warnings } = options;
  const server = createServer(httpOptions(limits));
  const exchanges = createExchanges();
  server.on('connection', socket => exchanges.open(socket));
  const isServing = (socket: Duplex): boolean => (exchanges.running(socket)?.size ?? 0) > 0;

  const refuse = (request: IncomingMessage, response: ServerResponse, error = httpsRequired()): void => {
    warnings.refused(request.socket, error.code);
    refuseRequest(request, response, error, requestId());
  };
  const serve: RequestListener = (request, response) => {
    const complaint = complain(request);
    if (complaint !== null) return refuse(request, response, invalid(undefined, complaint));
    exchanges.start(request, response);
    handler(request, response);
  };
  server.on('request', (request, response) => (servePlain(request) ? serve : refuse)(request, response));
  server.on('checkContinue', (request, response) => {
    if (!servePlain(request)) return refuse(request, response);
    response.writeContinue();
    serve(request, response);
  });
  server.on('checkExpectation', (request, response) => refuse(request, response));
  server.on('connect', (_request, socket) => refuseSocket(socket, httpsRequired(), requestId()));

  const refused = new WeakSet<object>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // After a parse error, each further chunk raises this event again. Returning discards the chunk.
    if (refused.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable || isServing(socket)) return void socket.destroy();
    refused.add(socket);
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') warnings.slow(socket, 'request');
    else warnings.refused(socket, 'malformed');
    refuseSocket(socket, invalid(undefined, 'This is neither TLS nor a well-formed HTTP request.'), requestId());
  });
  return { server, drain: () => exchanges.drain(), finish: () => exchanges.finish() };
};
