import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { atEndOfFile } from '../support/endOfFile.ts';

export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The bytes as they came. */
  readonly body: Buffer;
};

export type ReceivedEvent = {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly data: { readonly id: string; readonly status: string };
};

export type Receiver = {
  readonly url: string;
  readonly received: Received[];
  /** The received events, in order of arrival. */
  events(): ReceivedEvent[];
  /** The most requests that were ever open at a time. */
  most(): number;
  /** What to answer from now on; a function that never ends the response leaves the sender waiting. */
  answer: (response: ServerResponse, received: Received) => void;
  /** Answers those that were left waiting. */
  release(statusCode: number): void;
  /** Stops listening at the address. */
  close(): Promise<void>;
  /** Listens again, at the same address. */
  reopen(): Promise<void>;
};

export const eventOf = ({ body }: Received): ReceivedEvent => JSON.parse(body.toString('utf8'));

/** Verifies with the independent library, as a merchant would. Throws if signature or timestamp is wrong. */
export const verify = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

export const answering =
  (statusCode: number, headers: Record<string, string> = {}, body: string | Buffer = ''): Receiver['answer'] =>
  response => {
    response.writeHead(statusCode, headers).end(body);
  };

/** A merchant's server on loopback. Keeps all received bytes, and answers 200 by default. */
export const startReceiver = async (answer: Receiver['answer'] = answering(200)): Promise<Receiver> => {
  let [open, most] = [0, 0];
  const waiting = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    open += 1;
    most = Math.max(most, open);
    waiting.add(response);
    response.on('close', () => {
      open -= 1;
      waiting.delete(response);
    });
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const arrived = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) };
      receiver.received.push(arrived);
      receiver.answer(response, arrived);
    });
  });
  const listen = (port: number) => new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}`,
    received: [],
    events: () => receiver.received.map(eventOf),
    most: () => most,
    answer,
    release(statusCode) {
      for (const response of waiting) if (!response.headersSent) response.writeHead(statusCode).end();
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    reopen: () => listen(port),
  };
  atEndOfFile(receiver.close);
  return receiver;
};
