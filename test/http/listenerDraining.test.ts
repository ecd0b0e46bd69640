import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { Agent } from 'node:https';
import { expect, test } from 'vitest';
import { get, listen, listener, openTls, readAll } from './listenerScene.ts';

const never = { closeTimeoutMs: 3_600_000 };
const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`;

/** Answers when the test says so, by path. */
const holdBack = () => {
  const held = new Map<string, ServerResponse>();
  const arrived = Promise.withResolvers<void>();
  const handler =
    (count: number): RequestListener =>
    (request, response) => {
      held.set(request.url!, response);
      if (held.size === count) arrived.resolve();
    };
  return { handler, arrived: arrived.promise, answer: (path: string) => void held.get(path)!.end(`${path} answered`) };
};
const headsOf = (text: string): (string | undefined)[] =>
  text
    .split(/(?=HTTP\/1\.1 )/)
    .filter(part => part !== '')
    .map(part => /^connection: (.+)$/im.exec(part)?.[1]);

test('clients that send in a loop over kept connections lose no request while a server drains and closes', async () => {
  const port = await listen(undefined, never);
  const clients = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  let answered = 0;
  const warm = Promise.withResolvers<void>();
  /** Until an answer says that its connection ends. A client would go elsewhere then. */
  const loop = async (agent: Agent): Promise<number> => {
    for (let count = 1; ; count++) {
      const { status, connection } = await get(port, '/', agent);
      expect(status).toBe(200);
      if (++answered === 80) warm.resolve();
      if (connection === 'close') return count;
    }
  };
  const loops = clients.map(loop);
  await warm.promise;
  listener.drain();
  expect(await Promise.all(loops)).toHaveLength(8);
  await listener.close();
});

test('a server that drains accepts connections, and each of its answers ends one', async () => {
  const port = await listen(undefined, never);
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  expect(await get(port, '/before', kept)).toMatchObject({ status: 200, connection: 'keep-alive' });
  listener.drain();
  expect(await get(port, '/kept', kept)).toMatchObject({ status: 200, reused: true, connection: 'close' });
  expect(await get(port, '/new', kept)).toMatchObject({ status: 200, reused: false, connection: 'close' });
});

test('a request that was sent before the server closed is answered', async () => {
  const port = await listen(undefined, never);
  const socket = await openTls(port);
  socket.write(ask('/first'));
  await once(socket, 'data');
  const rest = readAll(socket);
  // Nothing of it was read yet.
  socket.write(ask('/second'));
  const closed = listener.close();
  expect(await rest).toContain('/second');
  await closed;
});

test('of several requests on one connection all are answered, and the last answer ends it', async () => {
  const { handler, arrived, answer } = holdBack();
  const port = await listen(handler(3), never);
  const socket = await openTls(port);
  const answers = readAll(socket);
  socket.write(ask('/1') + ask('/2') + ask('/3'));
  await arrived;
  const closed = listener.close();
  for (const path of ['/1', '/2', '/3']) answer(path);
  const text = await answers;
  expect(text.match(/\d answered/g)).toEqual(['1 answered', '2 answered', '3 answered']);
  expect(headsOf(text)).toEqual(['keep-alive', 'keep-alive', 'close']);
  await closed;
});

test('an answer that began before the server drained is sent whole, and its connection serves one more', async () => {
  const begun = Promise.withResolvers<ServerResponse>();
  const port = await listen((request, response) => {
    if (request.url !== '/long') return void response.end('short');
    response.write('begun');
    begun.resolve(response);
  }, never);
  const socket = await openTls(port);
  socket.write(ask('/long'));
  const response = await begun.promise;
  listener.drain();
  const answers = readAll(socket);
  response.end('ended');
  await once(response, 'close');
  socket.write(ask('/short'));
  const text = await answers;
  expect(text).toContain('ended');
  expect(text).toContain('short');
  expect(headsOf(text).at(-1)).toBe('close');
});
