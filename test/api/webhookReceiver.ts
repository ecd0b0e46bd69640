import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTestFlorin } from '../support/florin.ts';

export type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string };

export type WebhookReceiver = {
  readonly url: string;
  readonly received: Received[];
  /** Answers each request from now on. It may answer later. */
  answer: (response: ServerResponse, received: Received) => void;
  /** Clears the received requests, and answers 200 again. */
  reset(): void;
  close(): Promise<void>;
};

const answerOk: WebhookReceiver['answer'] = response => response.end();

/** A merchant's server on loopback. It records requests and answers 200 unless `answer` is set. */
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
    answer: answerOk,
    reset() {
      receiver.received.length = 0;
      receiver.answer = answerOk;
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  atEndOfFile(receiver.close);
  return receiver;
};

/** A whole Florin with a merchant's server. */
export const startReceivingFlorin = async (options?: Parameters<typeof startTestFlorin>[0]) => {
  const receiver = await startWebhookReceiver();
  const scene = await startTestFlorin(options);
  return { scene, receiver };
};
