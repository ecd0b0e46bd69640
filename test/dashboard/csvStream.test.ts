import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { createCsvStreams } from '../../src/http/dashboard/csvStream.ts';
import { until } from '../support/until.ts';

const piece = 'x'.repeat(256 * 1024);

/** A server that streams the pieces. The path is the id of the person. */
const serve = async (
  pieces: () => AsyncIterable<string>,
  { mayRead = async () => true }: { mayRead?: () => Promise<boolean> } = {},
) => {
  const stream = createCsvStreams(silentLog);
  const refusals: unknown[] = [];
  const server = createServer(({ url }, response) => {
    try {
      const file = stream({ personId: url!, mayRead }, pieces);
      file.open(response);
      file.drop();
    } catch (error) {
      refusals.push(error);
      response.writeHead(429).end();
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    refusals,
    disconnectAll: () => server.closeAllConnections(),
    stop: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** The result for a client that reads everything. */
const endingOf = (url: string): Promise<string> =>
  new Promise<string>(resolve => {
    const fail = (error: Error) => resolve((error as { code?: string }).code ?? '');
    get(url, { agent: false }, response => {
      response.resume();
      response.once('error', fail);
      response.once('end', () => resolve('whole'));
    }).once('error', fail);
  });

/** A client that reads the headers and nothing more. */
const askWithoutReading = async (url: string) => {
  const request = get(url, { agent: false });
  request.on('error', () => {});
  const response = await new Promise<IncomingMessage>(resolve => request.once('response', resolve));
  response.pause();
  response.on('error', () => {});
  return { request, response };
};

/** More than the buffers between two sockets hold. */
const longFile = () => {
  const state = { made: 0, isEnded: false };
  const pieces = async function* () {
    try {
      for (; state.made < 4_000; state.made++) {
        await turn();
        yield piece;
      }
    } finally {
      state.isEnded = true;
    }
  };
  return { state, pieces };
};

const untilEnded = (state: { isEnded: boolean }) =>
  until(
    async () => state.isEnded,
    ended => ended,
  );

test('a stream waits for a client that does not read, and ends when it goes', async () => {
  const { state, pieces } = longFile();
  const server = await serve(pieces);
  const { request } = await askWithoutReading(server.url);
  // Without backpressure, each turn would make a piece.
  for (let turns = 0; turns < 3_000; turns++) await turn();
  expect(state.made).toBeLessThan(200);
  expect(state.isEnded).toBe(false);
  request.destroy();
  await untilEnded(state);
  expect(state.made).toBeLessThan(200);
  await server.stop();
});

test('a client that is disconnected while it does not read frees its place', async () => {
  const { state, pieces } = longFile();
  const server = await serve(pieces);
  // More rounds than a person may have open streams.
  for (let round = 0; round < 3; round++) {
    state.isEnded = false;
    const { response } = await askWithoutReading(server.url);
    server.disconnectAll();
    await untilEnded(state);
    const cut = new Promise<string>(resolve => {
      response.once('error', error => resolve((error as { code?: string }).code ?? ''));
      response.once('end', () => resolve('whole'));
    });
    response.resume();
    expect(await cut).toBe('ECONNRESET');
  }
  expect(server.refusals).toEqual([]);
  expect(state.made).toBeLessThan(600);
  await server.stop();
});

test('a stream that breaks off is cut, so that nobody takes it for the whole', async () => {
  const server = await serve(async function* () {
    yield 'id\r\n';
    throw new Error('the database is gone');
  });
  expect(await endingOf(server.url)).toBe('ECONNRESET');
  await server.stop();
});

test('a stream is cut where its reader may not read any more, also where nobody can tell', async () => {
  const sent: string[] = [];
  const pieces = async function* () {
    for (const line of ['id\r\n', '1\r\n', '2\r\n']) {
      sent.push(line);
      yield line;
    }
  };
  const forbidden = await serve(pieces, { mayRead: async () => sent.length < 2 });
  expect(await endingOf(forbidden.url)).toBe('ECONNRESET');
  expect(sent).toEqual(['id\r\n', '1\r\n']);
  await forbidden.stop();
  const unknown = await serve(pieces, { mayRead: () => Promise.reject(new Error('the database is gone')) });
  expect(await endingOf(unknown.url)).toBe('ECONNRESET');
  await unknown.stop();
});

test('a stream is one of two of its person, and its place is free again when it ends', async () => {
  const open: (() => void)[] = [];
  const server = await serve(async function* () {
    yield 'id\r\n';
    await new Promise<void>(resolve => open.push(resolve));
  });
  const ask = (who: string) =>
    new Promise<number>((resolve, reject) => {
      get(`${server.url}/${who}`, { agent: false }, response => {
        response.resume();
        resolve(response.statusCode!);
      }).once('error', reject);
    });
  expect(await Promise.all([ask('ann'), ask('ann'), ask('ben'), ask('ben'), ask('eve')])).toEqual(Array(5).fill(200));
  expect(await ask('ann')).toBe(429);
  expect(server.refusals).toMatchObject([{ code: 'rate_limit_exceeded', retryAfterSeconds: 10 }]);
  await until(
    async () => open.length,
    count => count === 5,
  );
  for (const end of open) end();
  await until(
    () => ask('ann'),
    status => status === 200,
  );
  for (const end of open) end();
  await server.stop();
});
