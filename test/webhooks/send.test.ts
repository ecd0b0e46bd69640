import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { EgressError } from '../../src/webhooks/failure.ts';
import { type Outgoing, parseRetryAfter } from '../../src/webhooks/send.ts';
import { startReceiver } from './receiver.ts';
import { useSenders } from './senders.ts';

const { cleanups, newSender } = useSenders();

const receive = async (answer: (socket: Socket) => void, address?: string) => {
  const receiver = await startReceiver(answer, address);
  cleanups.push(receiver.close);
  return receiver;
};

const outgoing = (url: string, more: Partial<Outgoing> = {}): Outgoing => ({
  url,
  headers: { 'webhook-id': 'evt_1' },
  body: '{"n":1}',
  allowLoopback: true,
  ...more,
});

const answering =
  (status: string, body = '', headers = '') =>
  (socket: Socket) =>
    void socket.write(`HTTP/1.1 ${status}\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`);

describe('what a receiver answers', () => {
  test('posts the body and headers once and reports the answer', async () => {
    const receiver = await receive(answering('200 OK', 'thanks'));
    const outcome = await newSender().send(outgoing(`http://127.0.0.1:${receiver.port}/hook?a=b#never-sent`));
    expect(outcome).toEqual({
      delivered: true,
      statusCode: 200,
      durationMs: expect.any(Number),
      error: null,
      responseBody: Buffer.from('thanks'),
      retryAfterMs: null,
    });
    expect(receiver.received()).toMatch(/^POST \/hook\?a=b HTTP\/1\.1\r\n/);
    expect(receiver.received()).toMatch(/\r\nwebhook-id: evt_1\r\n/);
    expect(receiver.received()).toMatch(/\r\ncontent-type: application\/json\r\n/);
    expect(receiver.received()).toMatch(/\r\n\r\n\{"n":1\}$/);
    expect(receiver.received()).not.toContain('never-sent');
  });

  test('takes 204 for success', async () => {
    const receiver = await receive(socket => void socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
    const outcome = await newSender().send(outgoing(`http://127.0.0.1:${receiver.port}/`));
    expect(outcome).toMatchObject({ delivered: true, statusCode: 204, error: null, responseBody: Buffer.alloc(0) });
  });

  test.each([
    ['410 Gone', 410, 'answered 410'],
    ['500 Oops', 500, 'answered 500'],
    ['404 Not Found', 404, 'answered 404'],
  ])('takes %s for a failure and keeps its body', async (line, statusCode, error) => {
    const receiver = await receive(answering(line, 'why', 'retry-after: 120\r\n'));
    const outcome = await newSender().send(outgoing(`http://127.0.0.1:${receiver.port}/`));
    expect(outcome).toMatchObject({ delivered: false, statusCode, error, retryAfterMs: 120_000 });
    expect(outcome.responseBody.toString()).toBe('why');
  });

  test.each([301, 302, 303, 307, 308])('never follows a %i', async statusCode => {
    const other = await receive(answering('200 OK'));
    const location = `location: http://127.0.0.1:${other.port}/\r\n`;
    const receiver = await receive(answering(`${statusCode} Elsewhere`, '', location));
    const outcome = await newSender().send(outgoing(`http://127.0.0.1:${receiver.port}/`));
    const error = `answered ${statusCode}; redirects are not followed`;
    expect(outcome).toMatchObject({ delivered: false, statusCode, error });
    expect(other.connections()).toBe(0);
  });

  test('does not look at proxy variables', async () => {
    const proxy = await receive(answering('200 OK'));
    const receiver = await receive(answering('202 Accepted'));
    const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'HTTPS_PROXY'];
    const before = names.map(name => process.env[name]);
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    try {
      const outcome = await newSender().send(outgoing(`http://127.0.0.1:${receiver.port}/`));
      expect(outcome.statusCode).toBe(202);
      expect(proxy.connections()).toBe(0);
    } finally {
      names.forEach((name, index) => {
        if (before[index] === undefined) delete process.env[name];
        else process.env[name] = before[index];
      });
    }
  });
});

describe('hostile receivers', () => {
  const drip = (socket: Socket, bytes: string) => {
    const timer = setInterval(() => socket.write(bytes), 10);
    socket.on('close', () => clearInterval(timer));
  };

  test.each<[string, (socket: Socket) => void, number | null]>([
    ['that never answers', () => {}, null],
    [
      'whose headers drip',
      socket => {
        socket.write('HTTP/1.1 200 OK\r\n');
        drip(socket, 'x: y\r\n');
      },
      null,
    ],
    [
      'whose body drips',
      socket => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 16000\r\n\r\n');
        drip(socket, 'a');
      },
      200,
    ],
    ['that sends interim answers for ever', socket => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'), null],
  ])('gives up in time on one %s', async (_, answer, statusCode) => {
    const receiver = await receive(answer);
    const sender = newSender({ timeoutMs: 1_000 });
    const outcome = await sender.send(outgoing(`http://127.0.0.1:${receiver.port}/`));
    expect(outcome).toMatchObject({ delivered: false, statusCode, error: 'no complete answer in time' });
  });

  test('keeps 16 KiB of an endless body and hangs up', async () => {
    const closed = Promise.withResolvers<void>();
    const receiver = await receive(socket => {
      const pour = (): void => {
        while (!socket.destroyed && socket.write('a'.repeat(1000)));
      };
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.on('drain', pour);
      socket.on('close', () => closed.resolve());
      pour();
    });
    const outcome = await newSender().send(outgoing(`http://127.0.0.1:${receiver.port}/`));
    expect(outcome).toMatchObject({ delivered: true, statusCode: 200 });
    expect(outcome.responseBody.length).toBe(16_384);
    await closed.promise;
  });

  test('refuses headers beyond 16 KiB', async () => {
    const receiver = await receive(answering('200 OK', '', `x: ${'a'.repeat(20_000)}\r\n`));
    const outcome = await newSender().send(outgoing(`http://127.0.0.1:${receiver.port}/`));
    expect(outcome).toMatchObject({ delivered: false, statusCode: null, error: 'answer headers are too large' });
  });

  const cutOff = 'connection closed before the answer was complete';

  test.each<[string, (socket: Socket) => void, number | null, string]>([
    ['resets before answering', socket => socket.resetAndDestroy(), null, cutOff],
    ['closes before answering', socket => void socket.end(), null, cutOff],
    [
      'closes in mid-body',
      socket => {
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf');
      },
      200,
      cutOff,
    ],
    ['speaks something else', socket => void socket.end('SSH-2.0-OpenSSH_9.9\r\n'), null, 'answer is not valid HTTP'],
  ])('reports one that %s', async (_, answer, statusCode, error) => {
    const receiver = await receive(answer);
    const outcome = await newSender().send(outgoing(`http://127.0.0.1:${receiver.port}/`));
    expect(outcome).toMatchObject({ delivered: false, statusCode, error });
  });

  test('reports a refused connection', async () => {
    const receiver = await startReceiver(() => {});
    await receiver.close();
    const sender = newSender();
    for (const host of ['127.0.0.1', 'localhost']) {
      const outcome = await sender.send(outgoing(`http://${host}:${receiver.port}/`));
      expect(outcome).toMatchObject({ delivered: false, statusCode: null, error: 'connection refused' });
    }
  });

  test('stops when the caller cancels, before or during', async () => {
    const arrived = Promise.withResolvers<void>();
    const receiver = await receive(() => arrived.resolve());
    const controller = new AbortController();
    const sender = newSender();
    const sending = sender.send(outgoing(`http://127.0.0.1:${receiver.port}/`), controller.signal);
    await arrived.promise;
    controller.abort();
    expect(await sending).toMatchObject({ delivered: false, error: 'delivery was canceled' });
    const again = await sender.send(outgoing(`http://127.0.0.1:${receiver.port}/`), controller.signal);
    expect(again).toMatchObject({ delivered: false, error: 'delivery was canceled' });
    expect(receiver.connections()).toBe(1);
  });
});

describe('where it may go', () => {
  const refused = { delivered: false, statusCode: null, error: 'address is not allowed' };

  test('does not go to loopback unless allowed, even over a connection kept open by one that was', async () => {
    const receiver = await receive(answering('200 OK'));
    const sender = newSender({ resolveHost: async () => ['127.0.0.1'] });
    expect(await sender.send(outgoing(`http://127.0.0.1:${receiver.port}/`))).toMatchObject({ delivered: true });
    for (const host of ['127.0.0.1', 'localhost', '2130706433', 'rebound.example']) {
      for (const scheme of ['http', 'https']) {
        const url = `${scheme}://${host}:${receiver.port}/`;
        expect(await sender.send(outgoing(url, { allowLoopback: false }))).toMatchObject(refused);
      }
    }
    expect(receiver.connections()).toBe(1);
  });

  test.each([
    ['private', ['10.0.0.1']],
    ['metadata', ['169.254.169.254']],
    ['mapped', ['::ffff:127.0.0.1']],
    ['one bad among good', ['127.0.0.1', '192.168.0.1']],
    ['not an address', ['elsewhere.example']],
    ['odd spelling', ['0x7f.1']],
  ])('refuses a name that resolves to: %s', async (_, addresses) => {
    const sender = newSender({ resolveHost: async () => addresses });
    expect(await sender.send(outgoing('https://name.example/'))).toMatchObject(refused);
    expect(await sender.send(outgoing('https://name.example/', { allowLoopback: false }))).toMatchObject(refused);
  });

  test('reports names that do not resolve, or not in time', async () => {
    const failing = newSender({ resolveHost: () => Promise.reject(new EgressError('name_lookup_failed')) });
    expect(await failing.send(outgoing('https://name.example/'))).toMatchObject({ error: 'host name lookup failed' });
    const empty = newSender({ resolveHost: async () => [] });
    expect(await empty.send(outgoing('https://name.example/'))).toMatchObject({ error: 'host name not found' });
    const hanging = newSender({ resolveHost: () => new Promise(() => {}), timeoutMs: 100 });
    expect(await hanging.send(outgoing('https://name.example/'))).toMatchObject({
      error: 'no complete answer in time',
    });
  });

  test.each(['127.0.0.1', '::1', '0.0.0.0', '::'])('never calls its own listener on %s', async address => {
    const receiver = await receive(answering('200 OK'));
    const sender = newSender({
      ownListeners: () => [{ address, port: receiver.port }],
      resolveHost: async () => ['127.0.0.1'],
    });
    const own = { delivered: false, statusCode: null, error: "address is one of Florin's own" };
    for (const origin of ['http://127.0.0.1', 'http://localhost', 'http://127.9.9.9', 'https://name.example']) {
      expect(await sender.send(outgoing(`${origin}:${receiver.port}/`))).toMatchObject(own);
    }
    expect(receiver.connections()).toBe(0);
  });

  test('finds a receiver that listens on one family of localhost only', async () => {
    const four = await receive(answering('200 OK'), '127.0.0.1');
    const six = await receive(answering('200 OK'), '::1');
    const sender = newSender({ ownListeners: () => [{ address: '127.0.0.1', port: 1 }] });
    expect(await sender.send(outgoing(`http://localhost:${four.port}/`))).toMatchObject({ delivered: true });
    expect(await sender.send(outgoing(`http://localhost:${six.port}/`))).toMatchObject({ delivered: true });
    expect(await sender.send(outgoing(`http://[::1]:${six.port}/`))).toMatchObject({ delivered: true });
  });
});

describe('parseRetryAfter', () => {
  test('reads seconds and HTTP dates and nothing else', () => {
    const now = Date.UTC(2030, 0, 1);
    expect(parseRetryAfter('0', now)).toBe(0);
    expect(parseRetryAfter('90', now)).toBe(90_000);
    expect(parseRetryAfter('Tue, 01 Jan 2030 00:01:00 GMT', now)).toBe(60_000);
    expect(parseRetryAfter('Mon, 31 Dec 2029 00:00:00 GMT', now)).toBe(0);
    for (const text of [undefined, '', '-1', '1.5', 'soon', '2030-01-01', '99999999999']) {
      expect(parseRetryAfter(text, now)).toBeNull();
    }
  });
});
