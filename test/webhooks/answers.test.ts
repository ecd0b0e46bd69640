import { createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createSender, type Outgoing } from '../../src/webhooks/send.ts';
import { startOnLoopback } from './receiver.ts';
import { useSenders } from './senders.ts';

const { cleanups, newSender } = useSenders();

const body = '{"n":1}';
const cutOff = 'connection closed before the answer was complete';

type Answer = (socket: Socket) => void;

/** Answers requests in order, over any number of connections. The last answer is repeated. */
const answerEach = async (...answers: Answer[]) => {
  let requests = 0;
  const server = createServer(socket => {
    let text = '';
    socket.on('data', chunk => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf(`\r\n\r\n${body}`); end >= 0; end = text.indexOf(`\r\n\r\n${body}`)) {
        text = text.slice(end + 4 + body.length);
        const answer = answers[Math.min(requests, answers.length - 1)]!;
        requests += 1;
        answer(socket);
      }
    });
  });
  const receiver = await startOnLoopback(server);
  cleanups.push(receiver.close);
  const outgoing: Outgoing = {
    url: `http://127.0.0.1:${receiver.port}/`,
    headers: { 'webhook-id': 'evt_1' },
    body,
    allowLoopback: true,
  };
  return { ...receiver, outgoing, requests: () => requests };
};

const write =
  (...parts: string[]): Answer =>
  socket => {
    for (const part of parts) socket.write(part);
  };
const fine = write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine');
const fineOutcome = { delivered: true, statusCode: 200, error: null, responseBody: Buffer.from('fine') };

/** Writes each part only when the one before has left this process, so that they arrive apart. */
const writeApart =
  (...parts: string[]): Answer =>
  socket => {
    const left = [...parts];
    const next = (): void => {
      const part = left.shift();
      if (part !== undefined && !socket.destroyed) socket.write(part, () => setImmediate(next));
    };
    next();
  };

/** Text in which every position is recognisable. */
const numbered = (length: number): string =>
  Array.from({ length: Math.ceil(length / 8) }, (_, index) => String(index).padStart(8, '.'))
    .join('')
    .slice(0, length);

describe('answers of every shape', () => {
  test.each<[string, Answer, object]>([
    [
      'interim ones before it',
      write(
        'HTTP/1.1 103 Early Hints\r\nretry-after: 9\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n',
        'HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok',
      ),
      { delivered: true, statusCode: 201, responseBody: Buffer.from('ok'), retryAfterMs: null },
    ],
    [
      'chunks and trailers',
      writeApart(
        'HTTP/1.1 503 Later\r\nretry-after: 7\r\ntransfer-encoding: chunked\r\n\r\n',
        '3;x=y\r\nabc\r\n',
        '2\r\nde\r\n',
        '0\r\nretry-after: 99\r\n\r\n',
      ),
      { delivered: false, statusCode: 503, responseBody: Buffer.from('abcde'), retryAfterMs: 7_000 },
    ],
    [
      'no length, ended by the close',
      socket => void socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end'),
      { delivered: true, responseBody: Buffer.from('until the end') },
    ],
    [
      'an empty body',
      write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
      { delivered: true, responseBody: Buffer.alloc(0) },
    ],
    [
      'the same header twice',
      write('HTTP/1.1 429 Slow\r\nretry-after: 3\r\nretry-after: 4\r\ncontent-length: 0\r\n\r\n'),
      { delivered: false, statusCode: 429, retryAfterMs: 3_000 },
    ],
    [
      'a change of protocol that nobody asked for',
      write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
      { delivered: false, statusCode: null, error: cutOff },
    ],
    [
      'headers that grow piece by piece',
      writeApart('HTTP/1.1 200 OK\r\n', ...Array.from({ length: 20 }, (_, n) => `x-${n}: ${'a'.repeat(1_000)}\r\n`)),
      { delivered: false, statusCode: null, error: 'answer headers are too large' },
    ],
    [
      'trailers beyond all bounds',
      write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`),
      { delivered: false, statusCode: 200, error: 'answer headers are too large' },
    ],
    [
      'a length that is not one',
      write('HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n'),
      { delivered: false, statusCode: null, error: 'answer is not valid HTTP' },
    ],
  ])('%s', async (_, answer, expected) => {
    const receiver = await answerEach(answer, fine);
    const sender = newSender();
    expect(await sender.send(receiver.outgoing)).toMatchObject(expected);
    expect(await sender.send(receiver.outgoing)).toMatchObject(fineOutcome);
    expect(receiver.requests()).toBe(2);
  });

  test.each<[string, string[], number | null, string]>([
    ['the status line', ['HTTP/1.1 20'], null, ''],
    ['the headers', ['HTTP/1.1 200 OK\r\nx: y'], null, ''],
    ['the body', ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'], 200, 'half'],
    ['a chunk', ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', 'a\r\nhalf'], 200, 'half'],
    ['the trailers', ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '4\r\nhalf\r\n0\r\nx:'], 200, 'half'],
  ])('broken off in %s, by a reset or a close', async (_, parts, statusCode, kept) => {
    const resetLater: Answer = socket => {
      // A reset discards what was not read yet, so it waits until the sender must have read.
      socket.write(parts.join(''), () => setImmediate(() => setImmediate(() => socket.resetAndDestroy())));
    };
    const receiver = await answerEach(resetLater, socket => void socket.end(parts.join('')), fine);
    const sender = newSender();
    const afterReset = await sender.send(receiver.outgoing);
    expect(afterReset).toMatchObject({ delivered: false, error: cutOff });
    const afterClose = await sender.send(receiver.outgoing);
    expect(afterClose).toMatchObject({ delivered: false, statusCode, responseBody: Buffer.from(kept) });
    expect(await sender.send(receiver.outgoing)).toMatchObject(fineOutcome);
  });

  test('an end without the last chunk', async () => {
    const receiver = await answerEach(socket => {
      socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n4\r\nhalf\r\n');
    });
    const outcome = await newSender().send(receiver.outgoing);
    expect(outcome).toMatchObject({ delivered: false, statusCode: 200, responseBody: Buffer.from('half') });
  });

  test('a body that never ends keeps what came, and its time runs out', async () => {
    const receiver = await answerEach(socket => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n');
      // An endless chunk extension: bytes arrive, but no body.
      socket.write('1;x=');
      const timer = setInterval(() => socket.write('x'), 10);
      socket.on('close', () => clearInterval(timer));
    });
    const outcome = await newSender({ timeoutMs: 500 }).send(receiver.outgoing);
    expect(outcome).toMatchObject({ delivered: false, statusCode: 200, error: 'no complete answer in time' });
    expect(outcome.responseBody.toString()).toBe('ab');
  });
});

describe('answers beyond 16 KiB', () => {
  const long = numbered(40_000);
  const lengthOf = (text: string): string => `content-length: ${text.length}\r\n`;
  const inPieces = Array.from({ length: 40 }, (_, index) => long.slice(index * 1_000, (index + 1) * 1_000));

  test.each<[string, Answer]>([
    ['in one piece', write(`HTTP/1.1 200 OK\r\n${lengthOf(long)}\r\n${long}`)],
    ['in many pieces', writeApart(`HTTP/1.1 200 OK\r\n${lengthOf(long)}\r\n`, ...inPieces)],
    [
      'in chunks',
      writeApart(
        'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
        ...inPieces.map(piece => `3e8\r\n${piece}\r\n`),
        '0\r\n\r\n',
      ),
    ],
    ['ended by the close', socket => void socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${long}`)],
    ['of a length that never comes', write(`HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n${long}`)],
    ['of exactly 16 KiB', write(`HTTP/1.1 200 OK\r\ncontent-length: 16384\r\n\r\n${long.slice(0, 16_384)}`)],
    [
      'followed by another answer',
      write(`HTTP/1.1 200 OK\r\n${lengthOf(long)}\r\n${long}HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n`),
    ],
  ])('%s: their beginning is kept, and the next answer is its own', async (_, answer) => {
    const receiver = await answerEach(answer, fine);
    const sender = newSender();
    const outcome = await sender.send(receiver.outgoing);
    expect(outcome).toMatchObject({ delivered: true, statusCode: 200, error: null });
    expect(outcome.responseBody.toString()).toBe(long.slice(0, 16_384));
    for (let n = 0; n < 3; n++) expect(await sender.send(receiver.outgoing)).toMatchObject(fineOutcome);
  });

  test('one byte less is kept whole, and its connection too', async () => {
    const text = long.slice(0, 16_383);
    const receiver = await answerEach(
      writeApart(`HTTP/1.1 500 No\r\n${lengthOf(text)}\r\n`, text.slice(0, 9), text.slice(9)),
    );
    const sender = newSender();
    for (let n = 0; n < 5; n++) {
      const outcome = await sender.send(receiver.outgoing);
      expect(outcome).toMatchObject({ delivered: false, statusCode: 500 });
      expect(outcome.responseBody.toString()).toBe(text);
    }
    expect(receiver.connections()).toBeLessThanOrEqual(2);
  });
});

describe('connections', () => {
  test('carry one delivery after another, and each gets its own answer', async () => {
    let count = 0;
    const receiver = await answerEach(socket => {
      const text = String(count++);
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
    });
    const sender = newSender();
    for (let n = 0; n < 5; n++) {
      expect((await sender.send(receiver.outgoing)).responseBody.toString()).toBe(String(n));
    }
    // A connection is free again only a moment after its answer, so the next delivery may find it taken.
    expect(receiver.connections()).toBeLessThanOrEqual(2);
    const together = await Promise.all(Array.from({ length: 20 }, () => sender.send(receiver.outgoing)));
    const bodies = together.map(outcome => Number(outcome.responseBody.toString()));
    expect(bodies.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 5));
  });

  test('do not hand an answer that nobody asked for to the next delivery', async () => {
    const poison = 'HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n';
    const receiver = await answerEach(write(`HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine${poison}`), fine);
    const sender = newSender();
    expect(await sender.send(receiver.outgoing)).toMatchObject(fineOutcome);
    expect(await sender.send(receiver.outgoing)).toMatchObject(fineOutcome);
  });

  test('that the sender closes end their deliveries, and later ones fail at once', async () => {
    const arrived = Promise.withResolvers<void>();
    const receiver = await answerEach(() => arrived.resolve());
    const sender = createSender({ ownListeners: () => [] });
    const sending = sender.send(receiver.outgoing);
    await arrived.promise;
    await sender.close();
    expect(await sending).toMatchObject({ delivered: false, statusCode: null });
    expect(await sender.send(receiver.outgoing)).toMatchObject({ delivered: false, error: 'delivery failed' });
    expect(receiver.requests()).toBe(1);
  });

  test('are not opened for headers that could not be sent', async () => {
    const receiver = await answerEach(fine);
    const headers = { 'webhook-id': 'evt_1\r\nx: y' };
    const outcome = await newSender().send({ ...receiver.outgoing, headers });
    expect(outcome).toMatchObject({ delivered: false, statusCode: null, error: 'delivery failed' });
    expect(receiver.requests()).toBe(0);
  });
});
