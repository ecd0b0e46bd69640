import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';

/**
 * Why a call has no result. `code` narrows it down:
 * - `refused`: the node answered with a JSON-RPC error; its number
 * - `status`: an HTTP status other than 200 without such an error; the status
 * - `unreachable`: no answer, or one that broke off; the errno name
 * - `timeout`, `too_large`, `malformed`: no code
 */
export type RpcFaultKind = 'refused' | 'status' | 'unreachable' | 'timeout' | 'too_large' | 'malformed';

/** Never carries the address of the node, which may hold a provider's key. */
export class RpcFault extends Error {
  readonly kind: RpcFaultKind;
  readonly code: number | string | undefined;

  constructor(kind: RpcFaultKind, code: number | string | undefined, message: string) {
    super(message);
    this.name = 'RpcFault';
    this.kind = kind;
    this.code = code;
  }
}

export type RpcOptions = {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly responseLimitBytes?: number;
};

const defaultTimeoutMs = 10_000;
const defaultResponseLimitBytes = 32 * 1024 * 1024;

// Idle connections do not keep the process alive, so nothing has to close these. Nodes close theirs after a minute or so.
const agentOptions = { keepAlive: true, maxSockets: 16, maxFreeSockets: 4, timeout: 30_000 };
const httpAgent = new HttpAgent(agentOptions);
const httpsAgent = new HttpsAgent(agentOptions);

/** One JSON-RPC call. Throws `RpcFault`, or the reason of `signal` when that is what ended it. */
export const callRpc = async (
  url: string,
  method: string,
  params: readonly unknown[],
  { signal, timeoutMs = defaultTimeoutMs, responseLimitBytes = defaultResponseLimitBytes }: RpcOptions = {},
): Promise<unknown> => {
  const timeout = AbortSignal.timeout(timeoutMs);
  const ending = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  try {
    ending.throwIfAborted();
    const { status, body } = await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), {
      signal: ending,
      responseLimitBytes,
    });
    return readResult(status, body);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (timeout.aborted) throw new RpcFault('timeout', undefined, 'The node did not answer in time.');
    if (error instanceof RpcFault) throw error;
    throw new RpcFault('unreachable', (error as NodeJS.ErrnoException).code, 'The node could not be reached.');
  }
};

type Posting = { readonly signal: AbortSignal; readonly responseLimitBytes: number };

const post = async (url: string, body: string, posting: Posting): Promise<{ status: number; body: string }> => {
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
    // Leaving the loop destroys the response and with it the connection.
    if (sizeBytes > posting.responseLimitBytes) {
      throw new RpcFault('too_large', undefined, 'The answer of the node is too large.');
    }
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') };
};

const readResult = (status: number, body: string): unknown => {
  const answer = parseAnswer(body);
  // Some nodes send their errors with a status of 4xx or 5xx; the error inside says more than the status.
  if (answer?.error !== undefined && answer.error !== null) {
    const { code, message } = answer.error as Record<string, unknown>;
    if (typeof code !== 'number') throw new RpcFault('malformed', undefined, 'The node sent an error without a code.');
    throw new RpcFault('refused', code, typeof message === 'string' ? message.slice(0, 500) : '');
  }
  if (status !== 200) throw new RpcFault('status', status, 'The node answered with an HTTP error.');
  if (answer === null || answer.result === undefined) {
    throw new RpcFault('malformed', undefined, 'The node did not send a JSON-RPC answer.');
  }
  return answer.result;
};

const parseAnswer = (body: string): Record<string, unknown> | null => {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};
