import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { callRpc } from '../../src/chains/evm/rpc.ts';
import { readHead } from './readHead.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const serve = async (listener: RequestListener): Promise<string> => {
  server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3/providers-secret-key`;
};

const answering = (status: number, body: string): Promise<string> =>
  serve((request, response) => {
    request.resume();
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  });

describe('callRpc', () => {
  test('answers the result, null included', async () => {
    const url = await serve(async (request, response) => {
      const sent = JSON.parse(Buffer.concat(await request.toArray()).toString());
      response.end(JSON.stringify({ jsonrpc: '2.0', id: sent.id, result: sent.params[0] }));
    });
    expect(await callRpc(url, 'echo', ['0x1'])).toBe('0x1');
    expect(await callRpc(url, 'echo', [null])).toBe(null);
  });

  test('reuses its connection', async () => {
    const sockets = new Set<Socket>();
    const url = await serve((request, response) => {
      sockets.add(request.socket);
      request.resume();
      response.end('{"result":1}');
    });
    for (let call = 0; call < 5; call += 1) await callRpc(url, 'x', []);
    expect(sockets.size).toBe(1);
  });

  test.each([
    [200, '{"error":{"code":-32000,"message":"no"}}', { kind: 'refused', code: -32000 }],
    [400, '{"error":{"code":-32601,"message":"no"}}', { kind: 'refused', code: -32601 }],
    [200, '{"error":"no"}', { kind: 'malformed' }],
    [429, 'slow down', { kind: 'status', code: 429 }],
    [301, '{"result":1}', { kind: 'status', code: 301 }],
    [200, '<html>', { kind: 'malformed' }],
    [200, 'null', { kind: 'malformed' }],
    [200, '{}', { kind: 'malformed' }],
  ])('sorts an answer of %i %s', async (status, body, fault) => {
    const url = await answering(status, body);
    await expect(callRpc(url, 'x', [])).rejects.toMatchObject({ name: 'RpcFault', ...fault });
  });

  test('stops reading an answer that is too large', async () => {
    const url = await serve((request, response) => {
      request.resume();
      const pour = (): void => {
        if (!response.destroyed) response.write(Buffer.alloc(65_536), pour);
      };
      pour();
    });
    await expect(callRpc(url, 'x', [], { responseLimitBytes: 200_000 })).rejects.toMatchObject({ kind: 'too_large' });
  });

  test('gives up on a node that is silent, before or within its answer', async () => {
    const silent = await serve(request => request.resume());
    await expect(callRpc(silent, 'x', [], { timeoutMs: 50 })).rejects.toMatchObject({ kind: 'timeout' });
    server?.closeAllConnections();
    server?.close();
    const halting = await serve((request, response) => {
      request.resume();
      response.write('{"result":');
    });
    await expect(callRpc(halting, 'x', [], { timeoutMs: 50 })).rejects.toMatchObject({ kind: 'timeout' });
  });

  test('ends with the reason of its caller', async () => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const url = await serve(request => {
      request.resume();
      controller.abort(reason);
    });
    await expect(callRpc(url, 'x', [], { signal: controller.signal })).rejects.toBe(reason);
    await expect(callRpc(url, 'x', [], { signal: controller.signal })).rejects.toBe(reason);
  });

  test('names the errno of a node that is not there, or that breaks off, and never its address', async () => {
    const url = await serve((request, response) => {
      request.resume();
      response.writeHead(200, { 'Content-Length': 100 }).write('{"result"', () => response.destroy());
    });
    await expect(callRpc(url, 'x', [])).rejects.toMatchObject({ kind: 'unreachable', code: 'ECONNRESET' });
    server?.close();
    await once(server as Server, 'close');
    const gone: Error = await callRpc(url, 'x', []).then(
      () => expect.unreachable(),
      error => error,
    );
    expect(gone).toMatchObject({ kind: 'unreachable', code: 'ECONNREFUSED' });
    expect(`${gone.stack} ${JSON.stringify(gone)}`).not.toContain('providers-secret-key');
  });
});

describe('readHead', () => {
  const hash = `0x${'AB'.repeat(32)}`;
  const headOf = (block: unknown, chainId: unknown): Promise<string> =>
    serve(async (request, response) => {
      const { method } = JSON.parse(Buffer.concat(await request.toArray()).toString());
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: method === 'eth_chainId' ? chainId : block }));
    });

  test('reads number, hash, time and chain id', async () => {
    const url = await headOf({ number: '0x10', hash, timestamp: '0x6774859e' }, '0x7a69');
    expect(await readHead(url)).toEqual({
      number: 16n,
      hash: hash.toLowerCase(),
      timestamp: 1735689630,
      chainId: 31337,
    });
  });

  test.each([
    [null, '0x1'],
    [{ number: null, hash, timestamp: '0x1' }, '0x1'],
    [{ number: '16', hash, timestamp: '0x1' }, '0x1'],
    [{ number: '0x10', hash: '0x12', timestamp: '0x1' }, '0x1'],
    [{ number: '0x10', hash, timestamp: 5 }, '0x1'],
    [{ number: '0x10', hash, timestamp: '0x1' }, `0x${'f'.repeat(20)}`],
  ])('refuses %j on chain %s', async (block, chainId) => {
    const url = await headOf(block, chainId);
    await expect(readHead(url)).rejects.toMatchObject({ kind: 'malformed' });
  });
});
