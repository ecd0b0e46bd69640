import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { FlorinError, invalid } from '../core/errors.ts';
import type { ListenerLimits } from './listener.ts';
import { refuseRequest, refuseSocket } from './refusal.ts';

const httpsRequired = (): FlorinError =>
  new FlorinError(
    'https_required',
    'Only HTTPS is served here. Nothing was executed; replace any key that was sent with this request.',
  );

/** Refuses everything that arrives without TLS, and reads no more of it than it must. */
export const createPlainServer = (limits: ListenerLimits, requestId: () => string): Server => {
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    maxHeaderSize: limits.headerSizeBytes,
    connectionsCheckingInterval: Math.min(1_000, limits.headersTimeoutMs),
    requireHostHeader: false,
  });
  const refuse = (request: IncomingMessage, response: ServerResponse): void =>
    refuseRequest(request, response, httpsRequired(), requestId());
  server.on('request', refuse);
  server.on('checkContinue', refuse);
  server.on('checkExpectation', refuse);
  server.on('connect', (_request, socket) => refuseSocket(socket, httpsRequired(), requestId()));

  const refused = new WeakSet<object>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Every further chunk after one that could not be parsed comes here again, and is thrown away by that.
    if (refused.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    refused.add(socket);
    refuseSocket(socket, invalid(undefined, 'This is neither TLS nor a well-formed HTTP request.'), requestId());
  });
  return server;
};
