import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { createConnectionCap } from '../../src/http/edge/connectionCap.ts';
import { createRareWarning } from '../../src/http/edge/rareWarning.ts';
import { eventually } from '../support/until.ts';
import { echo, get, listen, openPlain, openTls, readAll } from './listenerScene.ts';

const cap = (perAddress: number, trustedProxies: string[] = [], log = silentLog) =>
  createConnectionCap({ perAddress, trustedProxies, log });

const openFrom = async (port: number, localAddress: string): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
};
/** A refused connection is closed before a byte is read; one that is taken stays. */
const isRefused = async (port: number, localAddress: string): Promise<boolean> => {
  const socket = await openFrom(port, localAddress);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return !(await readAll(socket)).startsWith('HTTP/1.1 403');
};

test('an address has at most so many connections, and another address has its own', async () => {
  const lines: unknown[] = [];
  const log = { ...silentLog, warn: (fields: object, message: string) => lines.push({ ...fields, message }) };
  const port = await listen(echo, {}, ['127.0.0.1'], { admit: cap(2, [], log).admit });
  const [first, second] = [await openFrom(port, '127.0.0.1'), await openTls(port)];
  for (let i = 0; i < 5; i++) expect(await isRefused(port, '127.0.0.1')).toBe(true);
  expect(await isRefused(port, '127.0.0.2')).toBe(false);
  const message = 'an address has too many connections; further ones are refused';
  expect(lines).toEqual([{ address: '127.0.0.1', connections: 2, times: 1, message }]);
  // A connection gives its place back when it is over, over TLS too.
  second.destroy();
  await eventually(async () => expect(await isRefused(port, '127.0.0.1')).toBe(false));
  first.destroy();
});

test('one cap holds for several ports together, and not for trusted proxies', async () => {
  const { admit } = cap(2, ['127.0.0.8/30']);
  const server = createServer(socket => {
    if (!admit(socket)) socket.destroy();
    else socket.on('error', () => {}).write('in');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const other = (server.address() as { port: number }).port;
  const port = await listen(echo, {}, ['127.0.0.1'], { admit });
  const held = [await openFrom(other, '127.0.0.1'), await openFrom(other, '127.0.0.1')];
  await Promise.all(held.map(socket => once(socket, 'data')));
  expect(await isRefused(port, '127.0.0.1')).toBe(true);
  for (let i = 0; i < 4; i++) held.push(await openFrom(other, '127.0.0.9'));
  await Promise.all(held.slice(2).map(socket => once(socket, 'data')));
  for (const socket of held) socket.destroy();
  await new Promise(resolve => server.close(resolve));
});

test('IPv6 clients count by their /64', () => {
  const { admit } = cap(2);
  const from = (remoteAddress: string) =>
    admit({ remoteAddress, remotePort: 1, localAddress: '::1', localPort: 2, once: () => {} } as unknown as Socket);
  expect([from('2001:db8:1:2::1'), from('2001:db8:1:2::2'), from('2001:db8:1:2:3::')]).toEqual([true, true, false]);
  expect([from('2001:db8:1:3::1'), from('::ffff:192.0.2.1'), from('192.0.2.1'), from('192.0.2.1')]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test('a stream with its own limit leaves its place to others until it ends', async () => {
  const { admit, exempt } = cap(1);
  const streams: ServerResponse[] = [];
  const handler: RequestListener = (request, response) => {
    if (request.url !== '/stream') return response.end();
    exempt(response);
    response.flushHeaders();
    streams.push(response);
  };
  const port = await listen(handler, {}, ['127.0.0.1'], { admit });
  const client = await openTls(port);
  client.write('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(client, 'data');
  expect(await get(port, '/')).toMatchObject({ status: 200 });
  // The connection is kept for a next request, so it counts again.
  streams[0]!.end();
  await once(client, 'data');
  await eventually(async () => expect(['', 'ECONNRESET']).toContain(await readAll(await openPlain(port))));
  client.destroy();
  await eventually(async () => expect(await get(port, '/')).toMatchObject({ status: 200 }));
});

test('a warning about clients is logged once a minute, with how often it happened', () => {
  const lines: object[] = [];
  let nowMs = 1_000;
  const waiting: { atMs: number; run: () => void }[] = [];
  const clock = {
    nowMs: () => nowMs,
    later: (run: () => void, delayMs: number) => void waiting.push({ atMs: nowMs + delayMs, run }),
  };
  const pass = (ms: number): void => {
    nowMs += ms;
    for (const { run } of waiting.filter(({ atMs }) => atMs > nowMs - ms && atMs <= nowMs)) run();
  };
  const log = { ...silentLog, warn: (fields: object) => void lines.push(fields) };
  const warn = createRareWarning(log, 'too many', clock);
  warn({ address: 'a' });
  for (let i = 0; i < 1_000; i++) warn({ address: 'b' });
  pass(59_999);
  warn({ address: 'c' });
  expect(lines).toEqual([{ address: 'a', times: 1 }]);
  // Those that wait are told, also if nothing happens afterwards.
  pass(1);
  expect(lines.slice(1)).toEqual([{ address: 'c', times: 1_001 }]);
  pass(60_000);
  expect(lines).toHaveLength(2);
  warn({ address: 'd' });
  expect(lines.slice(2)).toEqual([{ address: 'd', times: 1 }]);
});
