import type { ServerOptions } from 'node:http';

export type ListenerLimits = {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** How long a connection may stay silent before its first byte. */
  readonly peekTimeoutMs: number;
  readonly handshakeTimeoutMs: number;
  readonly headerSizeBytes: number;
  readonly connections: number;
  /** How long closing waits for running requests. */
  readonly closeTimeoutMs: number;
};

export const defaultListenerLimits: ListenerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  // Longer than the usual minute of load balancers, so that they and not we close an idle connection.
  keepAliveTimeoutMs: 65_000,
  peekTimeoutMs: 10_000,
  handshakeTimeoutMs: 10_000,
  headerSizeBytes: 16 * 1024,
  connections: 10_000,
  closeTimeoutMs: 10_000,
};

/** What the servers for HTTPS and for plain HTTP have in common. */
export const httpOptions = (limits: ListenerLimits): ServerOptions => ({
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  maxHeaderSize: limits.headerSizeBytes,
  connectionsCheckingInterval: Math.min(1_000, limits.headersTimeoutMs),
  // Checked with the request instead: the built-in refusal has neither a body nor a request id.
  requireHostHeader: false,
});
