import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners } from 'node:events';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Outgoing } from '../../src/webhooks/send.ts';
import { makeCertificate, startOnLoopback, startReceiver } from './receiver.ts';
import { useSenders } from './senders.ts';

const { cleanups, newSender } = useSenders();

const receive = async (answer: (socket: Socket) => void) => {
  const receiver = await startReceiver(answer);
  cleanups.push(receiver.close);
  return receiver;
};

const outgoing = (url: string): Outgoing => ({ url, headers: {}, body: '{"n":1}', allowLoopback: true });
const canceled = { delivered: false, statusCode: null, error: 'delivery was canceled' };
const fine = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine';

/** A receiver with TLS behind a name that is found only when the test says so. */
const slowlyNamed = async () => {
  const certificate = await makeCertificate(['name.example']);
  let requests = 0;
  const server = createServer(certificate, (_, response) => {
    requests += 1;
    response.end();
  });
  const receiver = await startOnLoopback(server);
  cleanups.push(receiver.close);
  const asked = Promise.withResolvers<void>();
  const found = Promise.withResolvers<string[]>();
  const resolveHost = () => {
    asked.resolve();
    return found.promise;
  };
  const sender = newSender({ loopbackCa: certificate.cert, resolveHost });
  return {
    sender,
    url: `https://name.example:${receiver.port}/`,
    asked: asked.promise,
    requests: () => requests,
    /** Lets the connection be made and waits until it is closed. */
    async findAndSeeClosed() {
      const closed = new Promise(resolve => {
        server.once('connection', (socket: Socket) => socket.once('close', resolve));
      });
      found.resolve(['127.0.0.1']);
      await closed;
    },
  };
};

/** undici tells when it has read a part of a body. */
const onBodyRead = (listener: () => void): void => {
  const channel = 'undici:request:bodyChunkReceived';
  subscribe(channel, listener);
  cleanups.push(async () => void unsubscribe(channel, listener));
};

describe('a delivery that is called off', () => {
  test('while its name is looked up ends at once, and is not sent when the name is found', async () => {
    const receiver = await slowlyNamed();
    const controller = new AbortController();
    const sending = receiver.sender.send(outgoing(receiver.url), controller.signal);
    await receiver.asked;
    controller.abort();
    expect(await sending).toMatchObject(canceled);
    await receiver.findAndSeeClosed();
    expect(receiver.requests()).toBe(0);
    expect(await receiver.sender.send(outgoing(receiver.url))).toMatchObject({ delivered: true, statusCode: 200 });
  });

  test('while a receiver does not go on with the handshake ends at once', async () => {
    // Only the first TLS message arrives, without complete headers.
    const receiver = await receive(() => {});
    const sender = newSender();
    const controller = new AbortController();
    const sending = sender.send(outgoing(`https://127.0.0.1:${receiver.port}/`), controller.signal);
    await expect.poll(receiver.connections).toBe(1);
    controller.abort();
    expect(await sending).toMatchObject(canceled);
  });

  test.each<[string, string, number | null, string]>([
    ['before any answer', '', null, ''],
    ['in the headers', 'HTTP/1.1 200 OK\r\nx: y\r\n', null, ''],
    ['in the body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf', 200, 'half'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\nhalf', 200, 'half'],
  ])('%s closes its connection, and the next opens another', async (_, start, statusCode, kept) => {
    const closed = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    let connections = 0;
    const receiver = await receive(socket => {
      connections += 1;
      if (connections > 1) return void socket.write(fine);
      socket.on('close', () => closed.resolve());
      // The received part of the body must have been read; the rest is dropped.
      if (kept === '') reached.resolve();
      else onBodyRead(reached.resolve);
      socket.write(start);
    });
    const sender = newSender();
    const controller = new AbortController();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const sending = sender.send(outgoing(url), controller.signal);
    await reached.promise;
    controller.abort();
    const outcome = await sending;
    expect(outcome).toMatchObject({ ...canceled, statusCode, responseBody: Buffer.from(kept) });
    await closed.promise;
    expect(await sender.send(outgoing(url))).toMatchObject({ delivered: true, responseBody: Buffer.from('fine') });
  });

  test('after its end stays as it was, and leaves nothing at the signal', async () => {
    const receiver = await receive(socket => void socket.write(fine));
    const sender = newSender();
    const controller = new AbortController();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const outcome = await sender.send(outgoing(url), controller.signal);
    const refused = await sender.send(outgoing('https://10.0.0.1/'), controller.signal);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    controller.abort();
    expect(outcome).toMatchObject({ delivered: true, responseBody: Buffer.from('fine') });
    expect(refused).toMatchObject({ delivered: false, error: 'address is not allowed' });
  });

  test('together with many others ends with them', async () => {
    const receiver = await receive(() => {});
    const sender = newSender();
    const controller = new AbortController();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const sending = Array.from({ length: 50 }, () => sender.send(outgoing(url), controller.signal));
    await expect.poll(receiver.connections).toBe(50);
    controller.abort();
    for (const outcome of await Promise.all(sending)) expect(outcome).toMatchObject(canceled);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});
