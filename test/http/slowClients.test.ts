import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { createLiveStreams } from '../../src/http/checkout/liveStreams.ts';
import { createCsvStreams } from '../../src/http/dashboard/csvStream.ts';
import { defaultListenerLimits } from '../../src/http/edge/listenerLimits.ts';
import { createStallWatch } from '../../src/http/edge/stallWatch.ts';
import { eventually } from '../support/until.ts';
import { echo, executed, listen, openPlain, openTls, parse, readAll } from './listenerScene.ts';

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
/** More than the buffers between two sockets hold. */
const large = Buffer.alloc(48 * 1024 * 1024, 'x');

/** Sends the bytes one at a time for as long as the connection is open, and then something that never ends. */
const drip = async (socket: Socket, bytes: string | Buffer): Promise<string> => {
  const all = Buffer.from(bytes);
  let sent = 0;
  const timer = setInterval(() => {
    const byte = all[sent++] ?? 0x78;
    if (socket.writable) socket.write(Buffer.of(byte));
  }, 5);
  try {
    return await readAll(socket);
  } finally {
    clearInterval(timer);
  }
};

describe('a client that sends a byte now and then is cut off', () => {
  test('before its handshake is complete', async () => {
    const port = await listen(echo, { handshakeTimeoutMs: 100 });
    // A record of 16 KiB, of which the handshake cannot begin before the last byte.
    const record = Buffer.from([0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc]);
    expect(['', 'ECONNRESET']).toContain(await drip(await openPlain(port), record));
  });

  test.each([
    ['headers', 'GET / HTTP/1.1\r\nHost: x\r\nX: '],
    ['a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n'],
    ['a body in chunks', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n'],
  ])('in %s', async (_name, bytes) => {
    const port = await listen(echo, { headersTimeoutMs: 500, requestTimeoutMs: 600 });
    expect(parse(await drip(await openTls(port), bytes)).status).toBe(400);
    expect(['400', '403']).toContain((await drip(await openPlain(port), bytes)).slice(9, 12));
    expect(executed.filter(line => line.startsWith('GET'))).toEqual([]);
  });
});

describe('what the listener ends by itself is in the log, once a minute', () => {
  const logged = () => {
    const lines: object[] = [];
    const log = { ...silentLog, warn: (fields: object, message: string) => void lines.push({ ...fields, message }) };
    return { lines, options: { log } };
  };
  const slow = { address: '127.0.0.1', times: 1, message: 'a client was too slow and was disconnected' };
  const refused = { address: '127.0.0.1', times: 1, message: 'a request was refused before it had a route' };

  test('a connection that says nothing, and no second line for the next', async () => {
    const { lines, options } = logged();
    const port = await listen(echo, { peekTimeoutMs: 50 }, ['127.0.0.1'], options);
    for (let n = 0; n < 3; n++) await readAll(await openPlain(port));
    expect(lines).toEqual([{ ...slow, step: 'first byte' }]);
  });

  test('a slow handshake', async () => {
    const { lines, options } = logged();
    const port = await listen(echo, { handshakeTimeoutMs: 50 }, ['127.0.0.1'], options);
    const client = await openPlain(port);
    client.write(Buffer.of(0x16));
    await readAll(client);
    expect(lines).toEqual([{ ...slow, step: 'handshake' }]);
  });

  test.each(['plain', 'encrypted'])('a slow request (%s)', async kind => {
    const { lines, options } = logged();
    const port = await listen(echo, { headersTimeoutMs: 50, requestTimeoutMs: 60 }, ['127.0.0.1'], options);
    const client = await (kind === 'plain' ? openPlain(port) : openTls(port));
    client.write('GET / HTTP/1.1\r\nHost: ');
    await readAll(client);
    expect(lines).toEqual([{ ...slow, step: 'request' }]);
  });

  test.each([
    ['plain', get, 'https_required'],
    ['plain', 'nonsense\r\n\r\n', 'malformed'],
    ['encrypted', 'nonsense\r\n\r\n', 'malformed'],
    ['encrypted', 'GET / HTTP/1.1\r\n\r\n', 'malformed'],
    ['encrypted', get.repeat(200), 'too many requests at a time'],
  ])('a request that is not served (%s, %j: %s)', async (kind, bytes, reason) => {
    const { lines, options } = logged();
    const port = await listen(echo, {}, ['127.0.0.1'], options);
    const client = await (kind === 'plain' ? openPlain(port) : openTls(port));
    const ended = readAll(client);
    client.write(bytes);
    await eventually(() => expect(lines).toEqual([{ ...refused, reason }]));
    client.destroy();
    await ended;
  });
});

test('a connection has eight requests at a time, and ends with the ninth', async () => {
  const port = await listen();
  const requests = (count: number): string =>
    Array.from({ length: count }, (_, i) => `GET /${i} HTTP/1.1\r\nHost: x\r\n\r\n`).join('');
  const polite = await openTls(port);
  let text = '';
  polite.setEncoding('utf8').on('data', chunk => {
    text += chunk;
  });
  for (const count of [8, 16]) {
    polite.write(requests(8));
    await eventually(() => expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(count));
  }
  polite.destroy();
  executed.length = 0;
  const rude = await openTls(port);
  const ended = readAll(rude);
  rude.write(requests(200));
  await ended;
  expect(executed).toHaveLength(8);
});

test('a client that takes nothing for 30 s is disconnected, one that takes something is not', async () => {
  const sockets = new Set<Socket>();
  let nowMs = 0;
  const { stallTimeoutMs } = defaultListenerLimits;
  expect(stallTimeoutMs).toBe(30_000);
  const stalls = createStallWatch(sockets, stallTimeoutMs, silentLog, () => nowMs);
  const server = createServer(socket => {
    sockets.add(socket.on('error', () => {}));
    socket.write(large);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await eventually(() => expect(sockets.size).toBe(1));
  const [socket] = sockets as Set<Socket> & [Socket];
  const lookAt = (ms: number): void => {
    nowMs = ms;
    stalls.look();
  };
  lookAt(0);
  lookAt(29_999);
  expect(socket.destroyed).toBe(false);
  let taken = 0;
  client.on('data', chunk => {
    taken += chunk.length;
    if (taken > large.length / 2) client.pause();
  });
  await eventually(() => expect(client.isPaused()).toBe(true));
  lookAt(30_001);
  lookAt(59_999);
  expect(socket.destroyed).toBe(false);
  // The system may still fill its buffers: that is progress too.
  await eventually(() => {
    lookAt(nowMs + 30_000);
    expect(socket.destroyed).toBe(true);
  });
  const code = new Promise(resolve => client.once('error', error => resolve((error as { code?: string }).code)));
  client.removeAllListeners('data').resume();
  expect(await code).toBe('ECONNRESET');
  await new Promise(resolve => server.close(resolve));
});

describe('a client that does not read', () => {
  const file = async function* () {
    for (let at = 0; at < 1_000; at++) yield 'x'.repeat(256 * 1024);
  };
  const live = () => createLiveStreams({ open: 10, waitingBytes: large.length * 2 });
  const kinds: [string, () => (response: ServerResponse) => void][] = [
    ['an answer', () => response => response.end(large)],
    [
      'an export',
      () => {
        const csv = createCsvStreams(silentLog);
        return response => csv({ personId: 'one', mayRead: async () => true }, file).open(response);
      },
    ],
    [
      'a live stream',
      () => {
        const streams = live();
        return response =>
          streams
            .admit([])
            .open(response, () => {})
            .send(large.toString());
      },
    ],
  ];

  test.each(kinds)('of %s is disconnected, over TLS', async (_name, answerOf) => {
    const answer = answerOf();
    const closed = Promise.withResolvers<void>();
    const handler = (_: unknown, response: ServerResponse): void => {
      response.once('close', closed.resolve);
      answer(response);
    };
    const port = await listen(handler, { stallTimeoutMs: 60 });
    const client = (await openTls(port)).pause().on('error', () => {});
    client.write(get);
    await closed.promise;
    client.destroy();
  });

  test('is disconnected without TLS and while it goes on to send', async () => {
    const sockets = new Set<Socket>();
    const stalls = createStallWatch(sockets, 0, silentLog);
    const server = createHttpServer((_request, response) => response.end(large));
    server.on('connection', socket => sockets.add(socket));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
    client.write(get);
    const timer = setInterval(() => {
      if (client.writable) client.write(get);
      stalls.look();
    }, 10);
    await eventually(() => expect([...sockets].map(socket => socket.destroyed)).toEqual([true]));
    clearInterval(timer);
    client.destroy();
    await new Promise(resolve => server.close(resolve));
  });
});
