import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { serveRpc } from '../../../src/local/devchain/rpcServer.ts';
import { startRpcNode } from '../../api/rpcNode.ts';
import type { EvmNode } from '../../chains/evmNode.ts';
import { endFile } from '../../support/endOfFile.ts';
import { startNameServer } from '../../support/nameServer.ts';
import { issue } from './authority.ts';
import { addresses } from './machine.ts';

/** What is outside of the operator's machine: name servers, a chain with two nodes, a merchant's server, and who is on call. */
export type World = {
  readonly records: Map<string, string>;
  readonly chain: EvmNode;
  readonly nodeUrls: readonly [string, string];
  readonly receiverUrl: string;
  readonly alertUrl: string;
  /** Paths that were posted to. */
  readonly posts: readonly string[];
  close(): Promise<void>;
};

const chainId = 8453;
// Florin has port 443 of every address.
const port = 9443;
const others = { shop: 'shop.example.com', onCall: 'alerts.example.com' };

export const createWorld = async (room: string): Promise<World> => {
  const names = await startNameServer(53);
  const { records } = names;
  for (const name of Object.values(others)) records.set(name, addresses.others);
  const first = await startRpcNode(chainId, { factory: false });
  const second = await serveRpc(
    { request: async (method, params) => JSON.stringify(await first.node.answer(method, params)) },
    0,
  );
  const { cert, key } = issue(room, `${room}/others`, Object.values(others));
  const posts: string[] = [];
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    request.resume().on('end', () => {
      posts.push(request.url ?? '');
      response.writeHead(204).end();
    });
  });
  await new Promise<void>(resolve => server.listen(port, addresses.others, resolve));
  return {
    records,
    chain: first.node,
    nodeUrls: [first.url, `http://127.0.0.1:${second.port}`],
    receiverUrl: `https://${others.shop}:${port}/florin`,
    alertUrl: `https://${others.onCall}:${port}/alert`,
    posts,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
      await second.close();
      names.close();
      await endFile();
    },
  };
};
