import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { invalid } from '../core/errors.ts';
import { httpOptions, type ListenerLimits } from './listenerLimits.ts';
import { refuseRequest, refuseSocket } from './refusal.ts';

export type SecureServer = {
  readonly server: Server;
  /** Lets running requests finish and closes every other connection, now and from now on. */
  finish(): void;
};

type SecureServerOptions = {
  readonly tls: { readonly key: string; readonly cert: string };
  readonly handler: RequestListener;
  readonly limits: ListenerLimits;
  readonly requestId: () => string;
};

type Connection = { readonly running: Set<ServerResponse>; condemned: boolean };

/** The HTTPS server. Whatever reaches it that is no ordinary request is refused here, in the form of every other error. */
export const createSecureServer = ({ tls, handler, limits, requestId }: SecureServerOptions): SecureServer => {
  const server = configureServer(tls, limits);
  const connections = new Map<Duplex, Connection>();
  let finishing = false;

  server.on('secureConnection', socket => {
    if (finishing) return socket.destroySoon();
    connections.set(socket, { running: new Set(), condemned: false });
    socket.once('close', () => connections.delete(socket));
  });

  const track = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    connection.running.add(response);
    if (finishing) response.shouldKeepAlive = false;
    response.on('close', () => {
      connection.running.delete(response);
      const isLast = connection.running.size === 0;
      if (isLast && (finishing || connection.condemned)) request.socket.destroySoon();
    });
  };

  server.on('request', (request, response) => {
    track(request, response);
    const complaint = complain(request);
    if (complaint === null) handler(request, response);
    else refuseRequest(request, response, invalid(undefined, complaint), requestId());
  });
  server.on('checkExpectation', (request, response) => {
    track(request, response);
    const error = invalid(undefined, 'The only expectation that is met here is 100-continue.');
    refuseRequest(request, response, error, requestId());
  });

  /** The answer must not land inside, or be taken for, the answer to an earlier request that is still running. */
  const giveUpOn = (socket: Duplex, message: string): void => {
    const connection = connections.get(socket);
    // Every further chunk after one that could not be parsed comes here again, and is thrown away by that.
    if (connection?.condemned) return;
    if (connection === undefined || !socket.writable) return void socket.destroy();
    connection.condemned = true;
    const running = [...connection.running];
    if (running.some(response => response.req.complete)) return;
    // An answer that is on its way, a refusal mostly, is still let out.
    if (running.some(response => response.headersSent)) (socket as TLSSocket).destroySoon();
    else refuseSocket(socket, invalid(undefined, message), requestId());
  };
  server.on('connect', (_request, socket) => giveUpOn(socket, 'CONNECT is not supported.'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Browsers open connections in advance, and would take an answer on one for the answer to their first request.
    const isUnused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as TLSSocket).bytesRead === 0;
    if (isUnused || error.code === 'ECONNRESET') socket.destroy();
    else giveUpOn(socket, complaintByCode[error.code ?? ''] ?? 'The request is not well-formed HTTP.');
  });

  return {
    server,
    finish: () => {
      finishing = true;
      for (const [socket, { running }] of connections) {
        if (running.size === 0) (socket as TLSSocket).destroySoon();
        // Tells the client with the answer that the connection ends.
        for (const response of running) if (!response.headersSent) response.shouldKeepAlive = false;
      }
    },
  };
};

const configureServer = (tls: SecureServerOptions['tls'], limits: ListenerLimits): Server =>
  createServer({
    key: tls.key,
    cert: tls.cert,
    minVersion: 'TLSv1.2',
    handshakeTimeout: limits.handshakeTimeoutMs,
    ...httpOptions(limits),
  });

const complaintByCode: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers of the request are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
};

/** Of the pairs as they were written: the parsed headers have one Host at most, and all of them apart are dear to make. */
const countHosts = ({ rawHeaders }: IncomingMessage): number => {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
};

/** What makes a request one that is not served, whatever it asks for. */
export const complain = (request: IncomingMessage): string | null => {
  const hosts = countHosts(request);
  if (hosts > 1 || (hosts === 0 && request.httpVersion !== '1.0')) return 'A request has exactly one Host header.';
  if (request.headers.upgrade !== undefined) return 'Upgrade is not supported.';
  if (request.httpVersionMajor !== 1 || request.httpVersionMinor > 1)
    return 'Only HTTP/1.1 and HTTP/1.0 are spoken here.';
  // The parser undoes the last coding only, so the body of any other would be read as what it is not.
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 'The only transfer coding taken is chunked.';
  return null;
};
