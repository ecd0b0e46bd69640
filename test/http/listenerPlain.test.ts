import { describe, expect, test } from 'vitest';
import { echo, exchange, executed, listen, openPlain, parse, readAll } from './listenerScene.ts';

describe('plain HTTP on the port of HTTPS', () => {
  const refusal = { status: 403, code: 'https_required' };

  test.each([
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET / HTTP/1.0\r\n\r\n',
    'GET /v1/payments HTTP/1.1\r\n\r\n',
    'POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk_live_x\r\nContent-Length: 2\r\n\r\n{}',
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\nContent-Length: 2\r\n\r\n{}',
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n',
  ])('is refused and not executed: %j', async bytes => {
    const port = await listen();
    expect(parse(await exchange(await openPlain(port), bytes))).toMatchObject(refusal);
    expect(executed).toEqual([]);
  });

  test('is refused on IPv6 too, at the same port', async () => {
    const port = await listen(echo, {}, ['127.0.0.1', '::1']);
    const bytes = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
    expect(parse(await exchange(await openPlain(port), bytes))).toMatchObject(refusal);
    expect(parse(await exchange(await openPlain(port, '::1'), bytes))).toMatchObject(refusal);
  });

  test('is refused when it comes byte by byte', async () => {
    const port = await listen();
    const socket = await openPlain(port);
    socket.setNoDelay(true);
    const answer = readAll(socket);
    for (const byte of 'GET / HTTP/1.1\r\nHost: x\r\n\r\n') {
      await new Promise(resolve => socket.write(byte, resolve));
    }
    expect(parse(await answer)).toMatchObject(refusal);
  });

  test('is refused legibly while a large body is still being sent', async () => {
    const port = await listen();
    const body = Buffer.alloc(8 * 1024 * 1024, 'x');
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`;
    expect(parse(await exchange(await openPlain(port), head, body))).toMatchObject(refusal);
  });

  test('is refused when the client has closed its half', async () => {
    const port = await listen();
    const socket = await openPlain(port);
    const answer = readAll(socket);
    socket.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(parse(await answer)).toMatchObject(refusal);
  });

  test.each([
    ['garbage', Buffer.from('\0\u0001\u0002 garbage\r\n\r\n')],
    ['an early end', Buffer.from('GET / HT')],
    ['large headers', Buffer.from(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(400_000)}\r\n\r\n`)],
    ['two lengths', Buffer.from('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx')],
  ])('gets a well-formed 400 for %s', async (_name, bytes) => {
    const port = await listen();
    const socket = await openPlain(port);
    const answer = readAll(socket);
    socket.end(bytes);
    expect(parse(await answer)).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('gets a well-formed 400 when its headers do not end in time', async () => {
    const port = await listen(echo, { headersTimeoutMs: 50, requestTimeoutMs: 60 });
    expect(parse(await exchange(await openPlain(port), 'GET / HTTP/1.1\r\nHo'))).toMatchObject({ status: 400 });
  });
});
