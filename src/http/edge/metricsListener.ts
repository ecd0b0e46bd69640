import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Log } from '../../core/log.ts';
import { defaultListenerLimits, httpOptions } from './listenerLimits.ts';
import { listenOnAll } from './listenOnAll.ts';

export type MetricsListener = { readonly port: number; close(): Promise<void> };

export type MetricsListenerOptions = {
  readonly port: number;
  readonly hosts: readonly string[];
  /** Whether a request with this Host header is answered. */
  readonly admits: (host: string | undefined) => boolean;
  readonly contentType: string;
  readonly write: () => Promise<string>;
  readonly log: Log;
};

/** Few ask, so a small number is enough to keep others from using up the memory. */
const mostConnections = 32;

const refuse = (response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void => {
  const usual = {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  };
  response.writeHead(status, { ...usual, ...headers });
  response.end(`${text}\n`);
};

/** Serves `GET /metrics` and nothing else, in plain HTTP and without a key: who can connect may read it. */
export const startMetricsListener = async (options: MetricsListenerOptions): Promise<MetricsListener> => {
  const { port, hosts, admits, contentType, write, log } = options;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    request.resume();
    if (!admits(request.headers.host)) return refuse(response, 421, 'This address serves loopback only.');
    const [path] = (request.url ?? '').split('?', 1);
    if (path !== '/metrics') return refuse(response, 404, 'There is only /metrics here.');
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD') return refuse(response, 405, 'Use GET.', { Allow: 'GET, HEAD' });
    const text = Buffer.from(await write());
    response.writeHead(200, {
      'Content-Type': contentType,
      'Content-Length': text.length,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    response.end(method === 'HEAD' ? undefined : text);
  };
  const serve = (request: IncomingMessage, response: ServerResponse): void =>
    void answer(request, response).catch((error: unknown) => {
      log.warn({ err: error }, 'metrics could not be written');
      response.destroy();
    });
  const create = () => {
    const server = createServer(httpOptions(defaultListenerLimits), serve);
    server.maxConnections = mostConnections;
    return server;
  };
  const { servers, port: bound } = await listenOnAll({ createServer: create, port, hosts, log });
  return {
    port: bound,
    async close() {
      await Promise.all(
        (servers as ReturnType<typeof create>[]).map(server => {
          const closed = new Promise(resolve => server.close(resolve));
          server.closeAllConnections();
          return closed;
        }),
      );
    },
  };
};
