import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConnectPolicy, guardedConnect, isOwnListener } from '../../src/webhooks/connect.ts';
import { type Receiver, startReceiver } from './receiver.ts';

// A global unicast address that nobody uses: if the guard failed, the packet would go nowhere.
const unallocated = '2d00::1';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const receive = async (): Promise<Receiver> => {
  const receiver = await startReceiver(() => {});
  cleanups.push(receiver.close);
  return receiver;
};

const connect = (hostname: string, port: number, policy: Partial<ConnectPolicy> = {}, protocol = 'http:') => {
  const open = guardedConnect({
    allowLoopback: true,
    ownListeners: () => [],
    resolveHost: async () => [],
    loopbackCa: undefined,
    timeoutMs: 5_000,
    ...policy,
  });
  return new Promise<Socket>((resolve, reject) => {
    open({ hostname, protocol, port: String(port) }, (error, socket) => {
      if (error !== null) return reject(error);
      cleanups.push(() => socket.destroy());
      resolve(socket);
    });
  });
};

// Each is refused before any packet is sent. The URL check is bypassed, so this is the last line of defence.
describe('guardedConnect', () => {
  test.each(['127.0.0.1', '127.1.1.1', '::1', 'localhost', 'x.localhost'])(
    'judges %s though no lookup happens',
    async host => {
      const receiver = await receive();
      for (const protocol of ['http:', 'https:']) {
        const attempt = connect(host, receiver.port, { allowLoopback: false }, protocol);
        await expect(attempt).rejects.toMatchObject({ code: 'address_refused' });
      }
      expect(receiver.connections()).toBe(0);
    },
  );

  test.each(['10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', '64:ff9b::7f00:1', 'fe80::1', '0.0.0.0', '::'])(
    'refuses the literal %s even where loopback is allowed',
    async host => {
      await expect(connect(host, 9, {}, 'https:')).rejects.toMatchObject({ code: 'address_refused' });
    },
  );

  test('refuses plain http to anything but loopback', async () => {
    await expect(connect(unallocated, 80)).rejects.toMatchObject({ code: 'address_refused' });
  });

  test('asks for a name once and connects to the very address that was judged', async () => {
    const receiver = await receive();
    let asked = 0;
    // DNS rebinding: the name resolves to a harmless address first and to a hostile one later.
    const resolveHost = async () => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']);
    const socket = await connect('rebinding.example', receiver.port, { resolveHost });
    expect(socket.remoteAddress).toBe('127.0.0.1');
    expect(asked).toBe(1);
  });

  test('takes localhost for loopback without asking anybody', async () => {
    const receiver = await receive();
    const resolveHost = () => Promise.reject(new Error('asked'));
    const socket = await connect('api.localhost', receiver.port, { resolveHost });
    expect(socket.remoteAddress).toBe('127.0.0.1');
  });

  test('knows its own listener on a public address, however it is spelled', async () => {
    const listener = { address: unallocated, port: 443 };
    const own = connect('2d00:0:0::1', 443, { ownListeners: () => [listener] }, 'https:');
    await expect(own).rejects.toMatchObject({ code: 'own_listener' });
  });

  test('knows its own listener on all addresses by a connection that comes from where it goes', () => {
    const everywhere = { address: '::', port: 443 };
    const own = { localAddress: '2d00::1', remoteAddress: '2d00:0:0::1' };
    const other = { localAddress: '2d00::2', remoteAddress: '2d00::1' };
    expect(isOwnListener(own, 443, [everywhere])).toBe(true);
    expect(isOwnListener(own, 443, [{ address: '0.0.0.0', port: 443 }])).toBe(true);
    expect(isOwnListener(own, 8443, [everywhere])).toBe(false);
    expect(isOwnListener(other, 443, [everywhere])).toBe(false);
    expect(isOwnListener({ localAddress: undefined, remoteAddress: undefined }, 443, [everywhere])).toBe(false);
  });
});
