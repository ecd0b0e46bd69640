import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the sink says: where it listens, and then each request it has got when it was asked to tell. */
export type SinkReady = { readonly port: number };
export type SinkHeard = { readonly id: string; readonly atMs: number };

/**
 * A receiver in a process of its own. It answers /fast with 204 at once, /told likewise and tells its parent of it, /error
 * with 500, and /silent never.
 */
const server = createServer((request, response) => {
  const atMs = performance.timeOrigin + performance.now();
  request.resume();
  request.once('end', () => {
    if (request.url === '/silent') return;
    response.writeHead(request.url === '/error' ? 500 : 204).end();
    const heard: SinkHeard = { id: String(request.headers['webhook-id']), atMs };
    if (request.url === '/told') process.send?.(heard);
  });
});
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  const ready: SinkReady = { port: (server.address() as AddressInfo).port };
  process.send?.(ready);
});
process.once('disconnect', () => process.exit(0));
