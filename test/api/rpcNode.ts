import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands for somebody else's node: it serves one chain whose newest block is always fresh, and knows nothing more. */
export const startRpcNode = async (chainId: number): Promise<{ url: string; close(): Promise<void> }> => {
  const answer = (method: string): unknown => {
    if (method === 'eth_chainId') return `0x${chainId.toString(16)}`;
    const seconds = Math.floor(Date.now() / 1000);
    return {
      number: `0x${seconds.toString(16)}`,
      hash: `0x${'ab'.repeat(32)}`,
      timestamp: `0x${seconds.toString(16)}`,
    };
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.on('end', () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answer(method) }));
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
