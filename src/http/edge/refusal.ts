import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody, type FlorinError } from '../../core/errors.ts';

// Closing while the client still sends resets the connection, and the client may never read the response.
const lingerMs = 2_000;

const refusalHeaders = (body: string, requestId: string): Record<string, string> => ({
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': String(Buffer.byteLength(body)),
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Request-Id': requestId,
  Connection: 'close',
});

/** Sends an error at once, discards the request's body, and closes the connection. */
export const refuseRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  error: FlorinError,
  requestId: string,
): void => {
  const body = errorBody(error, requestId);
  response.writeHead(error.status, refusalHeaders(body, requestId));
  response.write(body);
  const timer = setTimeout(() => response.end(), lingerMs);
  request.once('close', () => {
    clearTimeout(timer);
    response.end();
  });
  request.resume();
};

/** The same for a socket without a response object: the request could not be parsed, or is a CONNECT. */
export const refuseSocket = (socket: Duplex, error: FlorinError, requestId: string): void => {
  const body = errorBody(error, requestId);
  const head = Object.entries(refusalHeaders(body, requestId)).map(([name, value]) => `${name}: ${value}\r\n`);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${head.join('')}\r\n${body}`);
  socket.resume();
};
