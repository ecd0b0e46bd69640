import { Agent, type Dispatcher } from 'undici';
import { createRecentMap, type RecentMap } from '../core/recentMap.ts';
import { createCancellation } from './cancellation.ts';
import { createResolveHost, guardedConnect, type Listener, type ResolveHost } from './connect.ts';
import { describeFailure, type EgressCode, EgressError } from './failure.ts';
import { checkWebhookUrl } from './guard.ts';

export type SenderOptions = {
  /** All listeners of this deployment; read at each connection. */
  readonly ownListeners: () => readonly Listener[];
  readonly timeoutMs?: number;
  readonly resolveHost?: ResolveHost;
  readonly loopbackCa?: string;
  /** For addresses that the operator named: any address, also `http:`. Redirects are not followed here either. */
  readonly reachesAnything?: boolean;
};

export type Outgoing = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** Also allows `http:` to loopback. Only true for sandbox events, and only if all public URLs are loopback. */
  readonly allowLoopback: boolean;
};

export type Outcome = {
  readonly delivered: boolean;
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** A short phrase without secrets; null exactly if delivered. */
  readonly error: string | null;
  readonly responseBody: Buffer;
  /** The receiver's `Retry-After`, without an upper limit. */
  readonly retryAfterMs: number | null;
};

export type Sender = {
  /** Never rejects: every failure is an outcome. */
  readonly send: (outgoing: Outgoing, signal?: AbortSignal) => Promise<Outcome>;
  readonly close: () => Promise<void>;
};

const totalTimeoutMs = 15_000;
const maxBodyBytes = 16_384;
const maxHeaderBytes = 16_384;
// Shorter than the idle timeout of common servers, so that a POST does not race with the server's close.
const keepAliveMs = 1_000;

const keptTargets = 1_000;

export const createSender = (options: SenderOptions): Sender => {
  const { reachesAnything = false, timeoutMs = totalTimeoutMs } = options;
  const resolveHost = options.resolveHost ?? createResolveHost();
  const routeFor = (allowLoopback: boolean): Route => ({
    allowLoopback,
    timeoutMs,
    reachesAnything,
    targets: createRecentMap(keptTargets),
    agent: new Agent({
      connect: reachesAnything
        ? { timeout: timeoutMs }
        : guardedConnect({
            allowLoopback,
            ownListeners: options.ownListeners,
            resolveHost,
            loopbackCa: options.loopbackCa,
            timeoutMs,
          }),
      pipelining: 1,
      maxHeaderSize: maxHeaderBytes,
      // One timer covers the whole delivery; undici's own timers would only cost time.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
    }),
  });
  // Two pools: a kept loopback connection must never serve a delivery that may not go there.
  const publicOnly = routeFor(false);
  const withLoopback = routeFor(true);

  return {
    send: (outgoing, signal) => deliver(outgoing.allowLoopback ? withLoopback : publicOnly, outgoing, signal),
    close: async () => {
      await Promise.all([publicOnly.agent.destroy(), withLoopback.agent.destroy()]);
    },
  };
};

type Route = {
  readonly allowLoopback: boolean;
  readonly reachesAnything: boolean;
  readonly timeoutMs: number;
  readonly agent: Agent;
  /** Checked URLs; null for a refused one. */
  readonly targets: RecentMap<Target | null>;
};

type Target = { readonly origin: string; readonly path: string };

const targetOf = (url: string, route: Route): Target | null => {
  const cached = route.targets.get(url);
  if (cached !== undefined) return cached;
  let target: Target | null = null;
  if (route.reachesAnything || checkWebhookUrl(url, route) === null) {
    const { origin, pathname, search } = new URL(url);
    target = { origin, path: pathname + search };
  }
  route.targets.set(url, target);
  return target;
};

const cancellation = createCancellation();

/**
 * undici's `request` wraps each response in a stream and needs an abort signal per delivery. Together they cost more
 * than the delivery itself, so this reads from the parser directly.
 */
const deliver = (route: Route, outgoing: Outgoing, signal?: AbortSignal): Promise<Outcome> => {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const startedAt = performance.now();
  const answer: Answer = { statusCode: null, retryAfter: undefined, chunks: [], size: 0 };
  let controller: Dispatcher.DispatchController | undefined;
  let stopped: EgressError | undefined;

  /** Only the first call counts, because a promise settles once. */
  const settle = (error: string | null): void => {
    clearTimeout(timer);
    if (signal) cancellation.remove(signal, cancel);
    resolve(outcomeOf(answer, error, performance.now() - startedAt));
  };
  const stop = (code: EgressCode): void => {
    stopped = new EgressError(code);
    settle(describeFailure(stopped));
    controller?.abort(stopped);
  };
  const cancel = (): void => stop('canceled');
  const timer = setTimeout(stop, route.timeoutMs, 'timed_out');
  if (signal) cancellation.add(signal, cancel);

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      // Stopped while waiting for a connection: nothing may be sent.
      if (stopped !== undefined) started.abort(stopped);
    },
    onResponseStart(_, statusCode, headers) {
      if (statusCode < 200) return;
      answer.statusCode = statusCode;
      const { 'retry-after': retryAfter } = headers;
      answer.retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
    },
    onResponseData(started, chunk) {
      if (answer.size >= maxBodyBytes) return;
      answer.chunks.push(chunk);
      answer.size += chunk.length;
      if (answer.size < maxBodyBytes) return;
      settle(describeStatus(answer.statusCode));
      // Not at once, because the parser is still running. If the response ends here, the connection is kept.
      queueMicrotask(() => started.abort(new EgressError('canceled')));
    },
    onResponseEnd: () => settle(describeStatus(answer.statusCode)),
    onResponseError: (_, error) => settle(describeFailure(error)),
  };

  const target = targetOf(outgoing.url, route);
  if (signal?.aborted) cancel();
  else if (target === null) stop('address_refused');
  else {
    const headers = { 'content-type': 'application/json', 'user-agent': 'Florin', ...outgoing.headers };
    route.agent.dispatch({ ...target, method: 'POST', headers, body: outgoing.body }, handler);
  }
  return promise;
};

/** Filled as data arrives, so that nothing received before a failure is lost. */
type Answer = { statusCode: number | null; retryAfter: string | undefined; readonly chunks: Buffer[]; size: number };

const outcomeOf = (answer: Answer, error: string | null, durationMs: number): Outcome => ({
  delivered: error === null,
  statusCode: answer.statusCode,
  durationMs: Math.round(durationMs),
  error,
  responseBody: bodyOf(answer),
  retryAfterMs: parseRetryAfter(answer.retryAfter, Date.now()),
});

const emptyBody = Buffer.alloc(0);

const bodyOf = ({ chunks, size }: Answer): Buffer => {
  if (size === 0) return emptyBody;
  const whole = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
  return whole.subarray(0, maxBodyBytes);
};

const describeStatus = (statusCode: number | null): string | null => {
  if (statusCode === null) return 'delivery failed';
  if (statusCode >= 200 && statusCode < 300) return null;
  if (statusCode >= 300 && statusCode < 400) return `answered ${statusCode}; redirects are not followed`;
  return `answered ${statusCode}`;
};

/** Seconds or an HTTP date (RFC 9110). Anything else counts as absent. */
export const parseRetryAfter = (value: string | undefined, nowMs: number): number | null => {
  if (value === undefined) return null;
  if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1_000;
  if (!/^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$/.test(value)) return null;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
};
