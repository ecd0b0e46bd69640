import { once } from 'node:events';
import { Agent } from 'node:https';
import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { createListener } from '../../src/http/edge/listener.ts';
import {
  echo,
  exchange,
  executed,
  get,
  listen,
  listener,
  openPlain,
  openTls,
  parse,
  readAll,
  tls,
} from './listenerScene.ts';

describe('HTTPS', () => {
  test('is served on both loopback addresses and keeps connections', async () => {
    const port = await listen(echo, {}, ['127.0.0.1', '::1']);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await get(port, '/one', agent)).toMatchObject({ status: 200, body: '/one ', reused: false });
    expect(await get(port, '/two', agent)).toMatchObject({ status: 200, body: '/two ', reused: true });
    agent.destroy();
    const socket = connectTls({ port, host: '::1', ca: tls.cert });
    expect(await exchange(socket, 'GET /six HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain('/six');
  });

  test('is served to a client whose handshake comes byte by byte', async () => {
    const port = await listen();
    const relay = createServer(inner => {
      const outer = connectTcp({ port, host: '127.0.0.1', noDelay: true });
      // The client may be done, and the server with it, before the last byte is passed on.
      outer.on('error', () => inner.destroy());
      outer.pipe(inner);
      inner.on('error', () => outer.destroy()).on('end', () => outer.end());
      inner.on('data', async chunk => {
        inner.pause();
        for (const byte of chunk) await new Promise(resolve => outer.write(Buffer.from([byte]), resolve));
        inner.resume();
      });
    });
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const address = relay.address();
    const relayPort = typeof address === 'object' && address !== null ? address.port : 0;
    expect(await get(relayPort, '/slow')).toMatchObject({ status: 200, body: '/slow ' });
    relay.close();
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('resumes sessions of %s', async maxVersion => {
    const port = await listen();
    const request = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const options = { port, host: '127.0.0.1', ca: tls.cert, maxVersion };
    const first = connectTls(options);
    const session = once(first, 'session');
    await exchange(first, request);
    const second = connectTls({ ...options, session: (await session)[0] });
    await once(second, 'secureConnect');
    expect(second.isSessionReused()).toBe(true);
    await exchange(second, request);
  });

  test('refuses TLS below 1.2', async () => {
    const port = await listen();
    const ciphers = 'DEFAULT:@SECLEVEL=0';
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      ca: tls.cert,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers,
    });
    const [error] = await once(socket, 'error').catch(caught => [caught]);
    expect(error.code).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
  });

  /** The suite that client and server agree on if the client offers this one alone, or why they do not. */
  const agreed = async (suite: string): Promise<string> => {
    const port = await listen();
    const socket = connectTls({ port, host: '127.0.0.1', ca: tls.cert, maxVersion: 'TLSv1.2', ciphers: suite });
    const { promise, resolve } = Promise.withResolvers<string>();
    socket.once('secureConnect', () => resolve(socket.getCipher().name));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'no code'));
    return promise.finally(() => socket.destroy());
  };

  test.each(['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-ECDSA-AES128-GCM-SHA256'])(
    'speaks %s',
    async suite => {
      expect(await agreed(suite)).toBe(suite);
    },
  );

  test.each([
    'ECDHE-ECDSA-AES256-SHA384',
    'ECDHE-ECDSA-AES128-SHA256',
    'ECDHE-ECDSA-AES256-SHA',
    'ECDHE-ECDSA-AES128-SHA',
  ])('refuses %s, which does not authenticate what it encrypts', async suite => {
    expect(await agreed(suite)).toMatch(/^ERR_SSL_.*HANDSHAKE_FAILURE$/);
  });

  test.each([
    ['garbage', 'garbage\r\n\r\n'],
    ['large headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(400_000)}\r\n\r\n`],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['Upgrade', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['another expectation', 'POST / HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\nContent-Length: 2\r\n\r\n{}'],
  ])('answers %s with a well-formed 400', async (_name, bytes) => {
    const port = await listen();
    expect(parse(await exchange(await openTls(port), bytes))).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(executed).toEqual([]);
  });

  test('meets the expectation of 100-continue', async () => {
    const port = await listen();
    const socket = await openTls(port);
    const answer = readAll(socket);
    socket.write(
      'POST /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n',
    );
    const [first] = await once(socket, 'data');
    expect(first).toContain('100 Continue');
    socket.write('hi');
    expect(await answer).toContain('/c hi');
  });

  test.each([
    ['headers', 'GET / HTTP/1.1\r\nHo'],
    ['a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhi'],
  ])('answers %s that do not end in time with a well-formed 400', async (_name, bytes) => {
    const port = await listen(echo, { headersTimeoutMs: 50, requestTimeoutMs: 60 });
    expect(parse(await exchange(await openTls(port), bytes))).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('answers a broken body with a well-formed 400', async () => {
    const port = await listen();
    const bytes = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnot a length\r\n';
    expect(parse(await exchange(await openTls(port), bytes))).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('never answers a running request with the complaint about what follows it', async () => {
    const gate = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const port = await listen(async (_request, response) => {
      started.resolve();
      await gate.promise;
      response.end('the answer');
    });
    const socket = await openTls(port);
    const answer = readAll(socket);
    socket.write('GET /first HTTP/1.1\r\nHost: x\r\n\r\n');
    await started.promise;
    const complained = once(listener.httpsServer, 'clientError');
    socket.write('garbage\r\n\r\n');
    await complained;
    gate.resolve();
    const text = await answer;
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text).toContain('the answer');
    expect(text).not.toContain('invalid_request');
  });
});

describe('limits of connections', () => {
  test('drops a connection that stays silent, and one whose handshake does not end', async () => {
    const port = await listen(echo, { peekTimeoutMs: 20, handshakeTimeoutMs: 20 });
    expect(await readAll(await openPlain(port))).toBe('');
    expect(await exchange(await openPlain(port), Buffer.from([0x16, 0x03]))).toBe('');
  });

  test('says nothing on a connection that was opened in advance and never used', async () => {
    const port = await listen(echo, { headersTimeoutMs: 50, requestTimeoutMs: 60 });
    expect(await readAll(await openTls(port))).toBe('');
  });

  test('drops a connection that ends before its first byte', async () => {
    const port = await listen();
    const socket = await openPlain(port);
    socket.end();
    expect(await readAll(socket)).toBe('');
  });

  test('takes no more connections than allowed, and takes new ones when old ones have gone', async () => {
    const port = await listen(echo, { connections: 2 });
    const agent = new Agent({ keepAlive: true });
    await get(port, '/', agent);
    const second = await openTls(port);
    expect(['', 'ECONNRESET']).toContain(await readAll(await openPlain(port)));
    const tcpClosed = once(second, 'close');
    expect(await exchange(second, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain('200 OK');
    await tcpClosed;
    expect(await get(port, '/', agent)).toMatchObject({ status: 200 });
    agent.destroy();
  });

  test('reports a port that is taken', async () => {
    const port = await listen();
    const other = createListener({ tls, handler: echo, requestId: () => 'req', log: silentLog });
    await expect(other.listen(port, ['127.0.0.1'])).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await other.close();
  });
});

describe('closing', () => {
  test('lets a running request finish, ends idle connections and takes no new ones', async () => {
    const gate = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const port = await listen(async (request, response) => {
      if (request.url === '/running') {
        started.resolve();
        await gate.promise;
      }
      response.end(request.url);
    });
    const idleAgent = new Agent({ keepAlive: true });
    await get(port, '/idle', idleAgent);
    const [idle] = Object.values(idleAgent.freeSockets).flat();
    const idleClosed = once(idle as Socket, 'close');
    const fresh = await openTls(port);
    const freshClosed = once(fresh, 'close');
    const silent = await openPlain(port);
    const silentClosed = once(silent.resume(), 'end');
    const keepingAgent = new Agent({ keepAlive: true });
    const running = get(port, '/running', keepingAgent);
    await started.promise;

    let closed = false;
    const closing = listener.close().then(() => {
      closed = true;
    });
    await Promise.all([idleClosed, freshClosed, silentClosed]);
    silent.destroy();
    await expect(get(port, '/late')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(closed).toBe(false);
    gate.resolve();
    expect(await running).toMatchObject({ status: 200, body: '/running', connection: 'close' });
    await closing;
    keepingAgent.destroy();
    idleAgent.destroy();
  });

  test('cuts what has not finished at its deadline', async () => {
    const started = Promise.withResolvers<void>();
    const port = await listen(() => started.resolve(), { closeTimeoutMs: 20 });
    const running = get(port, '/for-ever');
    await started.promise;
    await Promise.all([listener.close(), expect(running).rejects.toMatchObject({ code: 'ECONNRESET' })]);
  });
});
