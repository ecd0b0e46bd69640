import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createLiveStreams,
  type LiveStream,
  type LiveStreams,
  type Share,
  type Slot,
} from '../../src/http/checkout/liveStreams.ts';
import { eventually } from '../support/until.ts';

const limits = { open: 3, waitingBytes: 64 * 1024 };
const sharesOf = (name: string): Share[] => [{ name, most: 2, code: 'rate_limit_exceeded', refusal: 'Too many.' }];
const message = `data: ${'x'.repeat(20_000)}\n\n`;

type Opened = { slot: Slot; stream: LiveStream; response: ServerResponse; closed: () => boolean };

let streams: LiveStreams;
let server: Server;
let opened: Opened[];
let clients: Socket[];
beforeEach(async () => {
  streams = createLiveStreams(limits);
  opened = [];
  clients = [];
  server = createServer((request, response) => {
    const slot = streams.admit(sharesOf(request.headers['x-subject'] as string));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let isClosed = false;
    const stream = slot.open(response, () => {
      isClosed = true;
    });
    opened.push({ slot, stream, response, closed: () => isClosed });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
});

/** A client that has asked for a stream, and reads as much of it as the test does. */
const listen = async (subject = 'a'): Promise<{ client: Socket; opened: Opened }> => {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(client);
  client.on('error', () => {});
  const before = opened.length;
  client.write(`GET / HTTP/1.1\r\nhost: x\r\nx-subject: ${subject}\r\n\r\n`);
  await eventually(() => expect(opened.length).toBe(before + 1));
  return { client, opened: opened[before]! };
};

describe('a client that does not read', () => {
  test('is dropped once more waits for it than may, and nothing is kept beyond one message', async () => {
    const { opened: slow } = await listen();
    let most = 0;
    let sent = 0;
    // The system takes some megabytes before anything waits here at all.
    while (!slow.response.destroyed && sent < 5_000) {
      slow.stream.send(message);
      sent += 1;
      most = Math.max(most, slow.response.writableLength);
      if (sent % 50 === 0) await new Promise(setImmediate);
    }
    expect(slow.response.destroyed).toBe(true);
    expect(most).toBeLessThan(limits.waitingBytes + 2 * message.length);
    await eventually(() => expect(slow.closed()).toBe(true));
    // What is sent after it has gone is nobody's.
    slow.stream.send(message);
    expect(streams.admit(sharesOf('a'))).toBeDefined();
  });

  test('is dropped by the second heartbeat that finds it waiting, and one that reads is not', async () => {
    const [{ opened: slow }, { client, opened: quick }] = [await listen('slow'), await listen('quick')];
    client.resume();
    while (slow.response.writableLength === 0) {
      slow.stream.send(message);
      await new Promise(setImmediate);
    }
    streams.beat();
    expect([slow.response.destroyed, quick.response.destroyed]).toEqual([false, false]);
    await eventually(() => expect(quick.response.writableLength === 0).toBe(true));
    streams.beat();
    expect([slow.response.destroyed, quick.response.destroyed]).toEqual([true, false]);
    await eventually(() => expect(slow.closed()).toBe(true));
    await eventually(() => expect(quick.response.writableLength === 0).toBe(true));
    for (let i = 0; i < 5; i++) {
      streams.beat();
      await eventually(() => expect(quick.response.writableLength === 0).toBe(true));
    }
    expect(quick.response.destroyed).toBe(false);
  });
});

test('a client to whom nothing can be written is dropped, and the others hear on', async () => {
  const [{ opened: bad }, { client, opened: good }] = [await listen('bad'), await listen('good')];
  let text = '';
  client.setEncoding('utf8').on('data', chunk => {
    text += chunk;
  });
  bad.response.write = () => {
    throw new Error('nothing can be written');
  };
  streams.beat();
  good.stream.send('data: more\n\n');
  await eventually(() => expect(bad.closed()).toBe(true));
  await eventually(() => expect(/event: beat[\s\S]*data: more/.test(text)).toBe(true));
  bad.stream.send(message);
});

describe('room', () => {
  test('is taken by those who ask, by subject and in all, and given back once', async () => {
    const [first] = [await listen('a'), await listen('a')];
    expect(() => streams.admit(sharesOf('a'))).toThrow(expect.objectContaining({ code: 'rate_limit_exceeded' }));
    await listen('b');
    expect(() => streams.admit(sharesOf('c'))).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
    first.client.destroy();
    await eventually(() => expect(first.opened.closed()).toBe(true));
    first.opened.stream.end();
    expect(streams.admit(sharesOf('a'))).toBeDefined();
    expect(() => streams.admit(sharesOf('c'))).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
  });

  test('is given back where no stream came of it, and by an open one only at its end', async () => {
    const slots = [streams.admit(sharesOf('a')), streams.admit(sharesOf('a'))];
    for (const slot of slots) {
      slot.drop();
      slot.drop();
    }
    const { opened: first } = await listen('a');
    first.slot.drop();
    await listen('a');
    expect(() => streams.admit(sharesOf('a'))).toThrow(expect.objectContaining({ code: 'rate_limit_exceeded' }));
  });

  test('is given back by a client that left before its stream began', async () => {
    const slot = streams.admit(sharesOf('gone'));
    const { client, opened: other } = await listen('b');
    client.destroy();
    await eventually(() => expect(other.response.closed).toBe(true));
    let isClosed = false;
    slot.open(other.response, () => {
      isClosed = true;
    });
    expect(isClosed).toBe(true);
    expect([streams.admit(sharesOf('gone')), streams.admit(sharesOf('gone'))]).toHaveLength(2);
  });
});

test('a stop ends all streams and takes no more', async () => {
  const { client, opened: stream } = await listen();
  let text = '';
  client.setEncoding('utf8').on('data', chunk => {
    text += chunk;
  });
  streams.stop();
  await eventually(() => expect(text.endsWith('\r\n0\r\n\r\n')).toBe(true));
  await eventually(() => expect(stream.closed()).toBe(true));
  expect(() => streams.admit(sharesOf('b'))).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
});
