import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { invalid } from '../../core/errors.ts';
import { createExchanges } from './exchanges.ts';
import { httpOptions, type ListenerLimits } from './listenerLimits.ts';
import type { ListenerWarnings } from './listenerWarnings.ts';
import { refuseRequest, refuseSocket } from './refusal.ts';

export type SecureServer = {
  readonly server: Server;
  /** Lets each answer end its connection. */
  drain(): void;
  /** Waits for running requests and closes every other connection, also new ones. */
  finish(): void;
};

export type ServerTls = {
  readonly key: string;
  readonly cert: string;
  /** The same for servers that resume each other's sessions, 48 bytes. Default: each has keys of its own. */
  readonly ticketKeys?: Buffer | undefined;
};

type SecureServerOptions = {
  readonly tls: ServerTls;
  readonly handler: RequestListener;
  readonly limits: ListenerLimits;
  readonly requestId: () => string;
  readonly warnings: ListenerWarnings;
};

/** The HTTPS server. It rejects malformed requests itself, with the same error format as the API. */
export const createSecureServer = (options: SecureServerOptions): SecureServer => {
  const { tls, handler, limits, requestId, warnings } = options;
  const server = configureServer(tls, limits);
  const exchanges = createExchanges();
  /** Connections that get no more answers than those that run. */
  const condemned = new WeakSet<Duplex>();

  server.on('secureConnection', socket => {
    if (exchanges.isFinishing()) return socket.destroySoon();
    exchanges.open(socket);
  });

  /** Returns false if the request must not be executed. */
  const track = (request: IncomingMessage, response: ServerResponse): boolean => {
    const { socket } = request;
    const running = exchanges.running(socket);
    if (running === undefined) return true;
    if (running.size >= limits.pipelinedRequests) {
      if (!condemned.has(socket)) warnings.refused(socket, 'too many requests at a time');
      condemned.add(socket);
      socket.destroy();
    }
    // One chunk may contain hundreds of requests. Each is announced, even after the connection was closed.
    if (socket.destroyed) return false;
    exchanges.start(request, response);
    response.on('close', () => {
      if (running.size === 0 && condemned.has(socket)) socket.destroySoon();
    });
    return true;
  };

  const refuse = (request: IncomingMessage, response: ServerResponse, message: string): void => {
    warnings.refused(request.socket, 'malformed');
    refuseRequest(request, response, invalid(undefined, message), requestId());
  };

  server.on('request', (request, response) => {
    if (!track(request, response)) return;
    const complaint = complain(request);
    if (complaint === null) handler(request, response);
    else refuse(request, response, complaint);
  });
  server.on('checkExpectation', (request, response) => {
    if (!track(request, response)) return;
    refuse(request, response, 'The only supported expectation is 100-continue.');
  });

  /** The error must not be written into the response to an earlier request, or be mistaken for it. */
  const giveUpOn = (socket: Duplex, message: string, slowIn: 'handshake' | 'request' | null = null): void => {
    // After a parse error, each further chunk raises this event again. Returning discards the chunk.
    if (condemned.has(socket)) return;
    const connection = exchanges.running(socket);
    if (slowIn === null) warnings.refused(socket, 'malformed');
    else warnings.slow(socket, slowIn);
    if (connection === undefined || !socket.writable) return void socket.destroy();
    condemned.add(socket);
    const running = [...connection];
    if (running.some(response => response.req.complete)) return;
    // A response that has started, usually an error, is still sent.
    if (running.some(response => response.headersSent)) (socket as TLSSocket).destroySoon();
    else refuseSocket(socket, invalid(undefined, message), requestId());
  };
  server.on('connect', (_request, socket) => giveUpOn(socket, 'CONNECT is not supported.'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Browsers open connections in advance. They would take an error here as the response to their first request.
    const isUnused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as TLSSocket).bytesRead === 0;
    if (isUnused || error.code === 'ECONNRESET') socket.destroy();
    else
      giveUpOn(
        socket,
        complaintByCode[error.code ?? ''] ?? 'The request is not well-formed HTTP.',
        slowSteps[error.code ?? ''],
      );
  });

  return {
    server,
    drain: () => exchanges.drain(),
    finish: () => exchanges.finish(),
  };
};

/**
 * Suites with forward secrecy and authenticated encryption, the strongest first. Node's own list also has CBC with SHA-1,
 * and, with an RSA certificate, key exchange without forward secrecy.
 */
const cipherSuites = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE+AES256+AESGCM',
  'ECDHE+CHACHA20',
  'ECDHE+AES128+AESGCM',
].join(':');

const configureServer = (tls: SecureServerOptions['tls'], limits: ListenerLimits): Server =>
  createServer({
    key: tls.key,
    cert: tls.cert,
    minVersion: 'TLSv1.2',
    ciphers: cipherSuites,
    // Sessions are bound to a context, which would else be the command line of the process.
    ...(tls.ticketKeys && { ticketKeys: tls.ticketKeys, sessionIdContext: 'florin' }),
    handshakeTimeout: limits.handshakeTimeoutMs,
    ...httpOptions(limits),
  });

const complaintByCode: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers of the request are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
};

const slowSteps: Readonly<Record<string, 'handshake' | 'request'>> = {
  ERR_TLS_HANDSHAKE_TIMEOUT: 'handshake',
  ERR_HTTP_REQUEST_TIMEOUT: 'request',
};

/** Counts in the raw headers: the parsed headers keep only one Host, and `headersDistinct` is expensive. */
const countHosts = ({ rawHeaders }: IncomingMessage): number => {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
};

/** Returns the reason to reject a request, whatever its route; null if it is valid. */
export const complain = (request: IncomingMessage): string | null => {
  const hosts = countHosts(request);
  if (hosts > 1 || (hosts === 0 && request.httpVersion !== '1.0'))
    return 'A request must have exactly one Host header.';
  if (request.headers.upgrade !== undefined) return 'Upgrade is not supported.';
  if (request.httpVersionMajor !== 1 || request.httpVersionMinor > 1)
    return 'Only HTTP/1.1 and HTTP/1.0 are supported.';
  // The parser decodes only the last coding, so any other body would be misread.
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return 'The only supported transfer coding is chunked.';
  return null;
};
