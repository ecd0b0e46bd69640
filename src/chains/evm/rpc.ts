import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';

/**
 * Why a call has no result. `code` is:
 * - `refused`: the number of the JSON-RPC error
 * - `status`: the HTTP status, other than 200 and without a JSON-RPC error
 * - `unreachable`: the errno name; there was no complete answer
 * - `timeout`, `too_large`, `malformed`: no code
 * - `unconfirmed`: no code; the answer may be right, but a second node has yet to confirm it
 */
export type RpcFaultKind = 'refused' | 'status' | 'unreachable' | 'timeout' | 'too_large' | 'malformed' | 'unconfirmed';

/** Never contains the node's URL, which may hold a provider's key. */
export class RpcFault extends Error {
  readonly kind: RpcFaultKind;
  readonly code: number | string | undefined;
  /** The node's `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: RpcFaultKind, code: number | string | undefined, message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'RpcFault';
    this.kind = kind;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

export type RpcOptions = {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly responseLimitBytes?: number;
};

const defaultTimeoutMs = 10_000;
const defaultResponseLimitBytes = 32 * 1024 * 1024;

// Idle connections do not keep the process alive, so nothing closes these agents. Nodes close idle connections after
// about a minute.
const agentOptions = { keepAlive: true, maxSockets: 16, maxFreeSockets: 4, timeout: 30_000 };
const httpAgent = new HttpAgent(agentOptions);
const httpsAgent = new HttpsAgent(agentOptions);

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

const write = ({ method, params }: RpcCall, id: number): object => ({ jsonrpc: '2.0', id, method, params });

/** One JSON-RPC call. Throws an `RpcFault`, or the reason of `signal` if it was aborted. */
export const callRpc = (
  url: string,
  method: string,
  params: readonly unknown[],
  options: RpcOptions = {},
): Promise<unknown> => exchange(url, write({ method, params }, 1), options, readResult);

/**
 * Several calls in one request. Each has its own result or fault; the request as a whole fails like a single call.
 * Nodes answer a batch in any order.
 */
export const callRpcBatch = (
  url: string,
  calls: readonly RpcCall[],
  options: RpcOptions = {},
): Promise<(unknown | RpcFault)[]> =>
  exchange(url, calls.map(write), options, answer => {
    const parts = Array.isArray(answer.parsed) ? answer.parsed : null;
    // A node without batches answers with one error for all.
    if (parts === null) {
      readResult(answer);
      throw new RpcFault('malformed', undefined, 'The node did not answer a batch with a batch.');
    }
    const byId = new Map(parts.map(part => [(part as { id?: unknown } | null)?.id, part]));
    return calls.map((_, id) => {
      try {
        return readResult({ ...answer, parsed: byId.get(id) });
      } catch (error) {
        return error as RpcFault;
      }
    });
  });

type Answer = { readonly status: number; readonly retryAfterMs: number | undefined; readonly parsed: unknown };

const exchange = async <T>(
  url: string,
  body: object,
  { signal, timeoutMs = defaultTimeoutMs, responseLimitBytes = defaultResponseLimitBytes }: RpcOptions,
  read: (answer: Answer) => T,
): Promise<T> => {
  const timeout = AbortSignal.timeout(timeoutMs);
  const ending = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  try {
    ending.throwIfAborted();
    return read(await post(url, JSON.stringify(body), { signal: ending, responseLimitBytes }));
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (timeout.aborted) throw new RpcFault('timeout', undefined, 'The node did not answer in time.');
    if (error instanceof RpcFault) throw error;
    throw new RpcFault('unreachable', (error as NodeJS.ErrnoException).code, 'The node could not be reached.');
  }
};

type Posting = { readonly signal: AbortSignal; readonly responseLimitBytes: number };

const post = async (url: string, body: string, posting: Posting): Promise<Answer> => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const isTls = url.startsWith('https:');
    const request = (isTls ? requestHttps : requestHttp)(url, {
      method: 'POST',
      agent: isTls ? httpsAgent : httpAgent,
      signal: posting.signal,
      headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
    });
    request.once('response', resolve).once('error', reject).end(body);
  });
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    // Leaving the loop destroys the response and closes the connection.
    if (sizeBytes > posting.responseLimitBytes) {
      throw new RpcFault('too_large', undefined, 'The answer of the node is too large.');
    }
    chunks.push(chunk);
  }
  const seconds = Number(response.headers['retry-after']);
  return {
    status: response.statusCode ?? 0,
    retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined,
    parsed: parseAnswer(Buffer.concat(chunks).toString('utf8')),
  };
};

const readResult = ({ status, retryAfterMs, parsed }: Answer): unknown => {
  const answer = typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : null;
  // Some nodes send JSON-RPC errors with status 4xx or 5xx. The error says more than the status.
  if (answer?.error !== undefined && answer.error !== null) {
    const { code, message } = answer.error as Record<string, unknown>;
    if (typeof code !== 'number') throw new RpcFault('malformed', undefined, 'The node sent an error without a code.');
    throw new RpcFault('refused', code, typeof message === 'string' ? message.slice(0, 500) : '', retryAfterMs);
  }
  if (status !== 200) throw new RpcFault('status', status, 'The node answered with an HTTP error.', retryAfterMs);
  if (answer === null || answer.result === undefined) {
    throw new RpcFault('malformed', undefined, 'The node did not send a JSON-RPC answer.');
  }
  return answer.result;
};

const parseAnswer = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
};
