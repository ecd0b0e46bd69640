import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { type Agent, request as requestHttps } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { createListener, type Listener, type ListenerOptions } from '../../src/http/edge/listener.ts';
import type { ListenerLimits } from '../../src/http/edge/listenerLimits.ts';
import { ensureLocalCertificates } from '../../src/local/localCa.ts';

let dataDir: string;
export let tls: { key: string; cert: string };
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'florin-listener-'));
  tls = await ensureLocalCertificates({ dataDir });
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

export let listener: Listener;
export let executed: string[] = [];
afterEach(() => listener.close());

export const echo: RequestListener = async (request, response) => {
  executed.push(`${request.method} ${request.url}`);
  const body = Buffer.concat(await request.toArray().catch(() => []));
  response.writeHead(200, { 'Content-Type': 'text/plain' }).end(`${request.url} ${body}`);
};

export const listen = async (
  handler: RequestListener = echo,
  limits: Partial<ListenerLimits> = {},
  hosts = ['127.0.0.1'],
  options: Partial<Pick<ListenerOptions, 'admit' | 'log'>> = {},
) => {
  let count = 0;
  executed = [];
  listener = createListener({ tls, handler, limits, requestId: () => `req_${++count}`, log: silentLog, ...options });
  return await listener.listen(0, hosts);
};

export const openPlain = async (port: number, host = '127.0.0.1'): Promise<Socket> => {
  const socket = connectTcp({ port, host, allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
};
export const openTls = async (port: number, session?: Buffer): Promise<TLSSocket> => {
  const socket = connectTls({ port, host: '127.0.0.1', ca: tls.cert, ...(session && { session }) });
  await once(socket, 'secureConnect');
  return socket;
};

/** Everything the server sends until it closes. */
export const readAll = async (socket: Socket): Promise<string> => {
  let text = '';
  socket.setEncoding('utf8').on('data', chunk => {
    text += chunk;
  });
  socket.on('error', error => {
    text += (error as NodeJS.ErrnoException).code;
  });
  await new Promise(resolve => socket.once('end', resolve).once('close', resolve));
  socket.destroy();
  return text;
};

export const exchange = async (socket: Socket, ...bytes: (string | Buffer)[]): Promise<string> => {
  const answer = readAll(socket);
  for (const chunk of bytes) socket.write(chunk);
  return await answer;
};

export const parse = (answer: string) => {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(lines.map(line => line.toLowerCase().split(': ')));
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(body));
  expect(headers.connection).toBe('close');
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  const { error } = JSON.parse(body);
  expect(headers['x-request-id']).toBe(error.requestId);
  expect(headers.location).toBeUndefined();
  return { status: Number(statusLine.split(' ')[1]), code: error.code, error };
};

export const get = (port: number, path: string, agent?: Agent) =>
  new Promise<{ status: number; body: string; reused: boolean; connection: string | undefined }>((resolve, reject) => {
    const request = requestHttps({ port, host: '127.0.0.1', path, ca: tls.cert, agent: agent ?? false });
    request.once('error', reject).once('response', async response => {
      const body = Buffer.concat(await response.toArray()).toString();
      const { connection } = response.headers;
      resolve({ status: response.statusCode ?? 0, body, reused: request.reusedSocket, connection });
    });
    request.end();
  });
