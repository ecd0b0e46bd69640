import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Messages of the sink: first its port, then each request to /reported. */
export type SinkReady = { readonly port: number };
export type SinkReceived = { readonly id: string; readonly atMs: number };

/**
 * A receiver in its own process. It answers /fast with 204; /reported likewise, with a message to its parent; /error
 * with 500; and /silent never.
 */
const server = createServer((request, response) => {
  const atMs = performance.timeOrigin + performance.now();
  request.resume();
  request.once('end', () => {
    if (request.url === '/silent') return;
    response.writeHead(request.url === '/error' ? 500 : 204).end();
    const received: SinkReceived = { id: String(request.headers['webhook-id']), atMs };
    if (request.url === '/reported') process.send?.(received);
  });
});
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  const ready: SinkReady = { port: (server.address() as AddressInfo).port };
  process.send?.(ready);
});
process.once('disconnect', () => process.exit(0));
