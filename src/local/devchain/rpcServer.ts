import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Chain } from './chain.ts';

const host = '127.0.0.1';
const bodyLimitBytes = 2 * 1024 * 1024;
const batchLimit = 1_000;

/** The part of the chain that is served. */
type RpcChain = Pick<Chain, 'request'>;

export type RpcServer = { readonly port: number; close(): Promise<void> };

/** Serves the chain over HTTP on loopback. Port 0 picks a free one. */
export const serveRpc = async (chain: RpcChain, port: number): Promise<RpcServer> => {
  const server = createServer((request, response) => {
    respond(chain, request, response).catch(() => response.destroy());
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 15_000;
  // Longer than clients keep an idle connection, so that the client closes it, not the server.
  server.keepAliveTimeout = 65_000;
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const respond = async (chain: RpcChain, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const refusal = refuse(request);
  if (refusal !== null) return refuseWith(response, refusal);
  const body = await readBody(request);
  if (body === null) return refuseWith(response, 413);
  const answer = await answerBody(chain, body);
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer);
};

/**
 * A web page must not reach the chain. Browsers send Origin with every POST to another site, and a name that was
 * rebound to loopback shows in Host.
 */
const refuse = ({ method, headers }: IncomingMessage): number | null => {
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) return 403;
  if (!/^(127\.0\.0\.1|localhost)(:\d{1,5})?$/i.test(headers.host ?? '')) return 403;
  if (method !== 'POST') return 405;
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) return 415;
  return null;
};

const refuseWith = (response: ServerResponse, status: number): void => {
  const headers = { 'Content-Type': 'application/json', Connection: 'close', ...(status === 405 && { Allow: 'POST' }) };
  response.writeHead(status, headers).end(failure(null, -32600, 'This request is refused.'));
};

/** Reads even a body that is too large to its end, within the request timeout, so that the refusal arrives. */
const readBody = async (request: IncomingMessage): Promise<string | null> => {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes <= bodyLimitBytes) chunks.push(chunk);
  }
  return sizeBytes > bodyLimitBytes ? null : Buffer.concat(chunks).toString('utf8');
};

const answerBody = async (chain: RpcChain, body: string): Promise<string> => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return failure(null, -32700, 'The body is not JSON.');
  }
  if (!Array.isArray(parsed)) return await answerCall(chain, parsed);
  if (parsed.length === 0 || parsed.length > batchLimit) {
    return failure(null, -32600, `A batch must have 1 to ${batchLimit} requests.`);
  }
  const answers: string[] = [];
  for (const call of parsed) answers.push(await answerCall(chain, call));
  return `[${answers.join(',')}]`;
};

const answerCall = async (chain: RpcChain, call: unknown): Promise<string> => {
  if (typeof call !== 'object' || call === null) return failure(null, -32600, 'A request must be an object.');
  const { jsonrpc, id, method, params = [] } = call as Record<string, unknown>;
  const isId = typeof id === 'string' || typeof id === 'number' || id === null;
  if (jsonrpc !== '2.0' || !isId || typeof method !== 'string') {
    return failure(isId ? id : null, -32600, 'A request must have jsonrpc "2.0", an id and a method.');
  }
  try {
    return respondTo(id, await chain.request(method, params));
  } catch {
    return failure(id, -32603, 'The dev chain could not answer.');
  }
};

/** The outcome is the text of a JSON object, and may be large: the answer is built around it without parsing. */
const respondTo = (id: unknown, outcome: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${outcome.slice(1)}`;

const failure = (id: unknown, code: number, message: string): string =>
  respondTo(id, JSON.stringify({ error: { code, message } }));
