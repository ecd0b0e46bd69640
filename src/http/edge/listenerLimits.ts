import type { ServerOptions } from 'node:http';

export type ListenerLimits = {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** Time a connection may wait before its first byte. */
  readonly peekTimeoutMs: number;
  readonly handshakeTimeoutMs: number;
  /** Time without progress after which a client that does not read its answer is disconnected. */
  readonly stallTimeoutMs: number;
  readonly headerSizeBytes: number;
  /** Requests of a connection that may wait for their answers. Answers that nobody reads are kept in memory. */
  readonly pipelinedRequests: number;
  readonly connections: number;
  /** Time that closing waits for running requests. */
  readonly closeTimeoutMs: number;
};

export const defaultListenerLimits: ListenerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  // Longer than the usual 60 seconds of load balancers, so that they close idle connections first.
  keepAliveTimeoutMs: 65_000,
  peekTimeoutMs: 10_000,
  handshakeTimeoutMs: 10_000,
  stallTimeoutMs: 30_000,
  headerSizeBytes: 16 * 1024,
  pipelinedRequests: 8,
  connections: 10_000,
  closeTimeoutMs: 10_000,
};

/** Options of both servers, HTTPS and plain HTTP. */
export const httpOptions = (limits: ListenerLimits): ServerOptions => ({
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  maxHeaderSize: limits.headerSizeBytes,
  connectionsCheckingInterval: Math.min(1_000, limits.headersTimeoutMs),
  // Checked later: the built-in error has no body and no request id.
  requireHostHeader: false,
});
