import { execFile } from 'node:child_process';
import { createServer, connect as plainConnect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConnectPolicy, guardedConnect } from '../../src/webhooks/connect.ts';
import { createSender, type Outgoing } from '../../src/webhooks/send.ts';
import { startOnLoopback, startReceiver } from './receiver.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const receive = async (answer: (socket: Socket) => void, address?: string) => {
  const receiver = await startReceiver(answer, address);
  cleanups.push(receiver.close);
  return receiver;
};

const basePolicy: ConnectPolicy = {
  allowLoopback: false,
  ownListeners: () => [],
  resolveHost: () => Promise.reject(new Error('no name may be looked up here')),
  loopbackCa: undefined,
  timeoutMs: 5_000,
};

const connect = (policy: ConnectPolicy, hostname: string, port: number, protocol: string) =>
  new Promise<Socket>((resolve, reject) => {
    guardedConnect(policy)({ hostname, protocol, port: String(port) }, (error, socket) => {
      if (error !== null) return reject(error);
      cleanups.push(() => socket.destroy());
      resolve(socket);
    });
  });

const answering = (line: string) => (socket: Socket) =>
  void socket.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\n\r\n`);
const outgoing = (url: string): Outgoing => ({ url, headers: {}, body: '{}', allowLoopback: true });

/** Every spelling that leads a socket to this machine without a lookup. */
const reachingHere = [
  ...['127.0.0.1', '127.1.2.3', '127.255.255.254', '0.0.0.0', '::1', '0:0:0:0:0:0:0:1', '0000::0001', '::0.0.0.1'],
  ...['::', '0::0', '::0.0.0.0', '::ffff:127.0.0.1', '::FFFF:7f00:1', '0:0:0:0:0:ffff:127.9.9.9', '::ffff:0.0.0.0'],
];

describe('what a socket is opened to', () => {
  test.each(reachingHere)(
    '%s reaches a receiver here by a plain socket, and none by the guarded one',
    async address => {
      const receiver = await receive(() => {}, '::');
      await new Promise<void>((resolve, reject) => {
        const socket = plainConnect(receiver.port, address, resolve).on('error', reject);
        cleanups.push(() => socket.destroy());
      });
      await expect.poll(receiver.connections).toBe(1);

      const named = { ...basePolicy, resolveHost: async () => [address] };
      for (const protocol of ['http:', 'https:']) {
        const literal = connect(basePolicy, address, receiver.port, protocol);
        await expect(literal).rejects.toMatchObject({ code: 'address_refused' });
        const byName = connect(named, 'name.example', receiver.port, protocol);
        await expect(byName).rejects.toMatchObject({ code: 'address_refused' });
      }
      expect(receiver.connections()).toBe(1);
    },
  );

  test.each(['http:', 'https:'])('is judged again once it is connected, over %s', async protocol => {
    for (const hostname of ['127.0.0.1', 'name.example']) {
      const heard = Promise.withResolvers<string>();
      const server = createServer(socket => {
        let text = '';
        socket.on('data', chunk => {
          text += chunk;
        });
        socket.on('close', () => heard.resolve(text));
      });
      const receiver = await startOnLoopback(server);
      cleanups.push(receiver.close);
      let asked = 0;
      // Allowed when the address is checked, but no longer when the socket is connected.
      const policy = {
        ...basePolicy,
        resolveHost: async () => ['127.0.0.1'],
        get allowLoopback() {
          return asked++ === 0;
        },
      };
      const attempt = connect(policy, hostname, receiver.port, protocol);
      await expect(attempt).rejects.toMatchObject({ code: 'address_refused' });
      expect(await heard.promise).toBe('');
    }
  });

  test('is judged anew at every connection, so that a name cannot move later', async () => {
    // It has no TLS, which is enough to show that it was reached.
    const receiver = await startOnLoopback(createServer(socket => void socket.end('no TLS here\r\n')));
    cleanups.push(receiver.close);
    const answers = [['127.0.0.1'], ['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1', '169.254.169.254'], ['127.0.0.1']];
    const sender = createSender({ ownListeners: () => [], resolveHost: async () => answers.shift()! });
    cleanups.push(sender.close);
    const url = `https://rebinding.example:${receiver.port}/`;
    const errors: (string | null)[] = [];
    for (let left = answers.length; left > 0; left--) errors.push((await sender.send(outgoing(url))).error);
    const reached = 'TLS handshake failed';
    expect(errors).toEqual([reached, reached, 'address is not allowed', 'address is not allowed', reached]);
    expect(receiver.connections()).toBe(3);
  });
});

describe('what cannot lead a delivery elsewhere', () => {
  test('proxy variables, even where the process was started with them and told to use them', async () => {
    const proxy = await receive(answering('200 OK'));
    const receiver = await receive(answering('202 Accepted'));
    const proxyUrl = `http://127.0.0.1:${proxy.port}`;
    const script = `
      import { createSender } from ${JSON.stringify(new URL('../../src/webhooks/send.ts', import.meta.url).href)};
      const sender = createSender({ ownListeners: () => [] });
      const url = 'http://127.0.0.1:${receiver.port}/';
      const outcome = await sender.send({ url, headers: {}, body: '{}', allowLoopback: true });
      await sender.close();
      console.log(JSON.stringify(outcome));`;
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap(name => [name, name.toLowerCase()]);
    const env = { NODE_USE_ENV_PROXY: '1', ...Object.fromEntries(names.map(name => [name, proxyUrl])) };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
    expect(JSON.parse(stdout)).toMatchObject({ delivered: true, statusCode: 202 });
    expect(proxy.connections()).toBe(0);
  });

  test('an answer that points at a forbidden place', async () => {
    const targets = ['http://169.254.169.254/latest/', '//10.0.0.1/', 'https://[::1]/', 'file:///etc/passwd'];
    for (const target of targets) {
      const headers = `location: ${target}\r\nrefresh: 0; url=${target}\r\nalt-svc: h2="10.0.0.1:443"`;
      const receiver = await receive(answering(`307 Temporary Redirect\r\n${headers}`));
      const sender = createSender({ ownListeners: () => [] });
      cleanups.push(sender.close);
      const outcome = await sender.send(outgoing(`http://127.0.0.1:${receiver.port}/`));
      expect(outcome).toMatchObject({ delivered: false, error: 'answered 307; redirects are not followed' });
      expect(receiver.connections()).toBe(1);
    }
  });
});
