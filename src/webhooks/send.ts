import { Agent, request } from 'undici';
import { createResolveHost, guardedConnect, type Listener, type ResolveHost } from './connect.ts';
import { describeFailure, EgressError } from './failure.ts';
import { checkWebhookUrl } from './guard.ts';

export type SenderOptions = {
  /** Everything this deployment listens on; read at each connection. */
  readonly ownListeners: () => readonly Listener[];
  readonly timeoutMs?: number;
  readonly resolveHost?: ResolveHost;
  readonly loopbackCa?: string;
};

export type Outgoing = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** Also allows `http:` there. Only ever true for sandbox events of a sandbox on loopback. */
  readonly allowLoopback: boolean;
};

export type Outcome = {
  readonly delivered: boolean;
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** A short sentence without secrets; null exactly when delivered. */
  readonly error: string | null;
  readonly responseBody: Buffer;
  /** What the receiver asked for, not yet bounded. */
  readonly retryAfterMs: number | null;
};

export type Sender = {
  /** Never rejects: whatever goes wrong is an outcome. */
  readonly send: (outgoing: Outgoing, signal?: AbortSignal) => Promise<Outcome>;
  readonly close: () => Promise<void>;
};

const totalTimeoutMs = 15_000;
const maxBodyBytes = 16_384;
const maxHeaderBytes = 16_384;
// Shorter than any common server's idle limit, so that a POST does not race with the server's close.
const keepAliveMs = 1_000;

export function createSender(options: SenderOptions): Sender {
  const timeoutMs = options.timeoutMs ?? totalTimeoutMs;
  const resolveHost = options.resolveHost ?? createResolveHost();
  const agentFor = (allowLoopback: boolean): Agent =>
    new Agent({
      connect: guardedConnect({
        allowLoopback,
        ownListeners: options.ownListeners,
        resolveHost,
        loopbackCa: options.loopbackCa,
        timeoutMs,
      }),
      pipelining: 1,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
    });
  // Two pools: a kept connection to loopback must never serve a delivery that may not go there.
  const publicOnly = agentFor(false);
  const withLoopback = agentFor(true);

  return {
    send: (outgoing, signal) =>
      deliver(outgoing.allowLoopback ? withLoopback : publicOnly, outgoing, timeoutMs, signal),
    close: async () => {
      await Promise.all([publicOnly.destroy(), withLoopback.destroy()]);
    },
  };
}

async function deliver(agent: Agent, outgoing: Outgoing, timeoutMs: number, signal?: AbortSignal): Promise<Outcome> {
  const startedAt = performance.now();
  const received: Answer = { statusCode: null, retryAfter: undefined, chunks: [] };
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new EgressError('timed_out')), timeoutMs);
  const cancel = (): void => stop.abort(new EgressError('canceled'));
  signal?.addEventListener('abort', cancel, { once: true });
  let error: string | null = null;
  try {
    if (signal?.aborted) throw new EgressError('canceled');
    if (checkWebhookUrl(outgoing.url, outgoing) !== null) throw new EgressError('address_refused');
    await exchange(agent, outgoing, stop.signal, received);
    error = describeStatus(received.statusCode);
  } catch (failure) {
    error = describeFailure(stop.signal.aborted ? stop.signal.reason : failure);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
  return {
    delivered: error === null,
    statusCode: received.statusCode,
    durationMs: Math.round(performance.now() - startedAt),
    error,
    responseBody: Buffer.concat(received.chunks).subarray(0, maxBodyBytes),
    retryAfterMs: parseRetryAfter(received.retryAfter, Date.now()),
  };
}

/** Filled while it arrives, so that what came before a failure is not lost. */
type Answer = { statusCode: number | null; retryAfter: string | undefined; chunks: Buffer[] };

async function exchange(agent: Agent, outgoing: Outgoing, signal: AbortSignal, received: Answer): Promise<void> {
  const response = await request(outgoing.url, {
    dispatcher: agent,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Florin', ...outgoing.headers },
    body: outgoing.body,
    signal,
  });
  received.statusCode = response.statusCode;
  const { 'retry-after': retryAfter } = response.headers;
  received.retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  // Leaving the loop early destroys the body, which then complains of that.
  response.body.on('error', () => {});
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    received.chunks.push(chunk);
    size += chunk.length;
    if (size >= maxBodyBytes) break;
  }
}

function describeStatus(statusCode: number | null): string | null {
  if (statusCode === null) return 'delivery failed';
  if (statusCode >= 200 && statusCode < 300) return null;
  if (statusCode >= 300 && statusCode < 400) return `answered ${statusCode}; redirects are not followed`;
  return `answered ${statusCode}`;
}

/** Seconds or an HTTP date (RFC 9110); anything else counts as absent. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1_000;
  if (!/^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$/.test(value)) return null;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
