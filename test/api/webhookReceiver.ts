import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string };

export type WebhookReceiver = {
  readonly url: string;
  readonly received: Received[];
  /** What to answer from now on; the rest of the test may decide later, too. */
  answer: (response: ServerResponse, received: Received) => void;
  close(): Promise<void>;
};

/** A merchant's server on loopback: keeps what it is sent and answers 200 until told otherwise. */
export const startWebhookReceiver = async (): Promise<WebhookReceiver> => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const arrived = { method, path, headers, body: Buffer.concat(chunks).toString('utf8') };
      receiver.received.push(arrived);
      receiver.answer(response, arrived);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: response => response.end(),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
};
