import { createServer } from 'node:https';
import { createServer as createPlainServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Outgoing } from '../../src/webhooks/send.ts';
import { makeCertificate, startOnLoopback } from './receiver.ts';
import { useSenders } from './senders.ts';

const { cleanups, newSender } = useSenders();

const outgoing = (url: string): Outgoing => ({ url, headers: {}, body: '{}', allowLoopback: true });

describe('TLS', () => {
  const receiveTls = async (names: readonly string[], expired = false) => {
    const certificate = await makeCertificate(names, expired);
    const server = createServer(certificate, (_, response) => void response.end('ok'));
    const receiver = await startOnLoopback(server);
    cleanups.push(receiver.close);
    return { ...receiver, ca: certificate.cert };
  };

  test('delivers over https where the injected authority vouches for the receiver', async () => {
    const receiver = await receiveTls(['localhost', '127.0.0.1', 'name.example']);
    const sender = newSender({ loopbackCa: receiver.ca, resolveHost: async () => ['127.0.0.1'] });
    for (const host of ['localhost', '127.0.0.1', 'name.example']) {
      const outcome = await sender.send(outgoing(`https://${host}:${receiver.port}/`));
      expect(outcome).toMatchObject({ delivered: true, statusCode: 200, error: null });
    }
  });

  test('refuses a self-signed certificate otherwise, whatever the environment says', async () => {
    const receiver = await receiveTls(['127.0.0.1']);
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      const outcome = await newSender().send(outgoing(`https://127.0.0.1:${receiver.port}/`));
      expect(outcome).toMatchObject({ delivered: false, statusCode: null, error: 'certificate is self-signed' });
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    }
  });

  test('refuses a certificate for another name and one that has expired', async () => {
    const other = await receiveTls(['other.example']);
    const wrongName = await newSender({ loopbackCa: other.ca }).send(outgoing(`https://127.0.0.1:${other.port}/`));
    expect(wrongName).toMatchObject({ delivered: false, error: 'certificate is for another host name' });
    const old = await receiveTls(['127.0.0.1'], true);
    const expired = await newSender({ loopbackCa: old.ca }).send(outgoing(`https://127.0.0.1:${old.port}/`));
    expect(expired).toMatchObject({ delivered: false, error: 'certificate has expired' });
  });

  test('reports a plain receiver behind https and the reverse', async () => {
    const plain = await startOnLoopback(createPlainServer(socket => void socket.end('HTTP/1.1 200 OK\r\n\r\n')));
    cleanups.push(plain.close);
    const toPlain = await newSender().send(outgoing(`https://127.0.0.1:${plain.port}/`));
    expect(toPlain).toMatchObject({ delivered: false, statusCode: null, error: 'TLS handshake failed' });
    const receiver = await receiveTls(['127.0.0.1']);
    const toTls = await newSender().send(outgoing(`http://127.0.0.1:${receiver.port}/`));
    expect(toTls.delivered).toBe(false);
  });
});
