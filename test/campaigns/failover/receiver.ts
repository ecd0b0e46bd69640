import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Receiver = {
  readonly url: string;
  /** The hashes of the bodies that arrived, by event. */
  readonly heard: ReadonlyMap<string, ReadonlySet<string>>;
  requests(): number;
  close(): void;
};

/** Where webhooks go. */
export const startReceiver = async (): Promise<Receiver> => {
  const heard = new Map<string, Set<string>>();
  let requests = 0;
  const server = createServer(async (request, response) => {
    const chunks = (await request.toArray().catch(() => null)) as Buffer[] | null;
    if (chunks === null) return;
    requests += 1;
    const id = String(request.headers['webhook-id']);
    const hash = createHash('sha256').update(Buffer.concat(chunks)).digest('hex');
    heard.set(id, (heard.get(id) ?? new Set()).add(hash));
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    heard,
    requests: () => requests,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
};
