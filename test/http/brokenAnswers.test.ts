import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import type { Call, Reply, Route } from '../../src/http/edge/route.ts';
import { type AccessLine, createRequestHandler, type ServerOptions } from '../../src/http/edge/server.ts';
import { eventually } from '../support/until.ts';

let reply: Reply;
let before: (call: Call) => Promise<unknown>;
let errors: string[];
let lines: AccessLine[];
let server: Server;
let close: () => Promise<void>;

beforeEach(async () => {
  [errors, lines] = [[], []];
  before = async () => {};
  const route: Route = {
    method: 'GET',
    path: '/',
    summary: 'Whatever the test says',
    tag: 'System',
    access: 'probe',
    async handle(call) {
      await before(call);
      return reply;
    },
  };
  const options = {
    routes: [route],
    trustedProxies: [],
    requestId: () => 'req_1',
    log: { ...silentLog, error: (_fields: object, message: string) => void errors.push(message) },
    access: (line: AccessLine) => void lines.push(line),
    strictTransport: () => false,
    errorPage: () => null,
    headersFor: () => [],
    arrive: () => null,
  };
  // A probe meets neither keys nor limits.
  const made = await createRequestHandler(options as unknown as ServerOptions);
  close = made.close;
  server = createServer(made.handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await close();
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
});

/** How the client's wait ends: with a status, or with the code of an error. */
const ask = (): Promise<number | string> =>
  new Promise(resolve => {
    const { port } = server.address() as AddressInfo;
    get({ port, host: '127.0.0.1', agent: false, timeout: 10_000 }, (incoming: IncomingMessage) => {
      incoming.resume().on('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
      incoming.once('end', () => resolve(incoming.statusCode!));
    })
      .once('timeout', () => resolve('still waiting'))
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
  });

const streamOf = (open: () => void) => {
  let drops = 0;
  return { stream: { open, drop: () => void drops++ }, drops: () => drops };
};

test('an answer whose head cannot be written does not leave its client waiting', async () => {
  reply = { body: 'x', headers: { 'x-odd': 'a\nb' } };
  expect(await ask()).toBe('ECONNRESET');
  expect(errors).toEqual(['a response could not be sent']);
  expect(lines.map(({ status }) => status)).toEqual([500]);
});

test('a stream that never began gives back what was taken for it', async () => {
  const { stream, drops } = streamOf(() => {});
  reply = { body: '', stream, headers: { 'x-odd': 'a\nb' } };
  expect(await ask()).toBe('ECONNRESET');
  expect(drops()).toBe(1);
  expect(lines.length).toBe(1);
  // An answer that fails before the framework has let go of it is an error like any other.
  reply = { body: '', stream, status: 9_999 };
  expect(await ask()).toBe(500);
  expect(drops()).toBe(2);
  expect(lines.map(({ status }) => status)).toEqual([500, 500]);
});

test('a stream that fails while it begins is cut off', async () => {
  const { stream } = streamOf(() => {
    throw new Error('it began badly');
  });
  reply = { body: '', stream };
  expect(await ask()).toBe('ECONNRESET');
  expect(errors).toEqual(['a response could not be sent']);
  expect(lines.map(({ status }) => status)).toEqual([200]);
});

test('a stream whose client left before its answer is in the log, once, and gives back what was taken for it', async () => {
  const { stream, drops } = streamOf(() => {});
  reply = { body: '', stream };
  const { port } = server.address() as AddressInfo;
  const leaving = get({ port, host: '127.0.0.1', agent: false });
  leaving.once('error', () => {});
  before = ({ request }) => {
    const left = once(request.raw.socket, 'close');
    leaving.destroy();
    return left;
  };
  await eventually(() => expect(lines.map(({ status }) => status)).toEqual([200]));
  await eventually(() => expect(drops()).toBe(1));
  expect(errors).toEqual([]);
  expect(lines.length).toBe(1);
});
