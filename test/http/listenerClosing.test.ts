import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { createListener } from '../../src/http/edge/listener.ts';
import { listen, listener, openPlain, tls } from './listenerScene.ts';

/** Far beyond any test's patience: whatever waits for it fails. */
const never = { closeTimeoutMs: 3_600_000, handshakeTimeoutMs: 3_600_000 };

test('closing does not wait for a client that did not believe the certificate', async () => {
  const port = await listen(undefined, never);
  const socket = connect({ port, host: '127.0.0.1', ca: tls.cert, servername: 'elsewhere.example' });
  const [error] = await once(socket, 'error');
  expect(error.code).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  await listener.close();
});

test('closing does not wait for a handshake that has stalled', async () => {
  const port = await listen(undefined, never);
  const socket = await openPlain(port);
  const ended = once(socket.resume(), 'end');
  socket.write(Buffer.from([0x16, 3, 1]));
  // A whole exchange on another connection: by its end the first bytes of this one have been seen.
  const other = connect({ port, host: '127.0.0.1', ca: tls.cert });
  await once(other, 'secureConnect');
  await listener.close();
  await ended;
  socket.destroy();
  other.destroy();
});

test('a plain connection that is served closes with its answer', async () => {
  await listen();
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const own = createListener({
    tls,
    handler: async (_request, response) => {
      started.resolve();
      await gate.promise;
      response.end('served');
    },
    servePlain: incoming => incoming.headers['x-proxy'] === 'yes',
    requestId: () => 'req_1',
    log: silentLog,
  });
  const port = await own.listen(0, ['127.0.0.1']);
  const answered = Promise.withResolvers<{ status: number | undefined; connection: string | undefined }>();
  request({ port, host: '127.0.0.1', headers: { 'x-proxy': 'yes' } }, response => {
    const { connection } = response.headers;
    response.resume().once('end', () => answered.resolve({ status: response.statusCode, connection }));
  }).end();
  await started.promise;
  const closed = own.close();
  gate.resolve();
  expect(await answered.promise).toEqual({ status: 200, connection: 'close' });
  await closed;
});
