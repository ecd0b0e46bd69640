import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export type CountingProxy = {
  readonly url: string;
  /** HTTP exchanges and calls by method since the last call of `take`. */
  take(): { exchanges: number; calls: Map<string, number> };
  stop(): void;
};

const methodsIn = (body: string): string[] => {
  const parsed = JSON.parse(body) as { method: string } | { method: string }[];
  return (Array.isArray(parsed) ? parsed : [parsed]).map(({ method }) => method);
};

/** Forwards JSON-RPC to a node and counts it. A request whose client disconnects is aborted. */
export const startCountingProxy = async (nodeUrl: string): Promise<CountingProxy> => {
  let exchanges = 0;
  let calls = new Map<string, number>();
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    exchanges++;
    for (const method of methodsIn(body.toString('utf8'))) calls.set(method, (calls.get(method) ?? 0) + 1);
    const asked = request(nodeUrl, { method: 'POST', headers: { 'content-type': 'application/json' } }, answer => {
      outgoing.writeHead(answer.statusCode!, { 'content-type': 'application/json' });
      answer.pipe(outgoing);
    });
    asked.once('error', () => outgoing.destroy());
    outgoing.once('close', () => asked.destroy());
    asked.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = { exchanges, calls };
      exchanges = 0;
      calls = new Map();
      return taken;
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
