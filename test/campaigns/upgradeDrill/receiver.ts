import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where webhooks go. It counts how often each event arrived. */
export const startReceiver = async () => {
  const seen = new Map<string, number>();
  const server = createServer(async (request, response) => {
    await request.toArray().catch(() => []);
    const id = String(request.headers['webhook-id']);
    seen.set(id, (seen.get(id) ?? 0) + 1);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    seen: seen as ReadonlyMap<string, number>,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
};
