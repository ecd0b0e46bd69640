import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Environment } from '../../src/core/environment.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { eventually } from '../support/until.ts';

let scene: TestFlorin;
let ca: string;
const opened: TLSSocket[] = [];
beforeAll(async () => {
  scene = await startTestFlorin({ env: { FLORIN_CONNECTIONS_PER_ADDRESS: '4' } });
  ca = await readFile(scene.florin.caPath!, 'utf8');
});
afterAll(() => {
  for (const socket of opened) socket.destroy();
});

/** A client that keeps its connection. Returns it with the first bytes of the answer, or null if it was refused. */
const ask = async (path: string, environment: Environment = 'sandbox'): Promise<[TLSSocket, string] | null> => {
  const port = Number(new URL(scene.florin.urls[environment]).port);
  const socket = connect({ port, host: '127.0.0.1', ca });
  opened.push(socket);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
  const answer = once(socket.setEncoding('utf8'), 'data').then(([text]) => text as string);
  const refused = once(socket, 'close').then(() => null);
  const text = await Promise.race([answer, refused]).catch(() => null);
  return text === null ? null : [socket, text];
};

test('probes hold no place of their address, so that any number of them is answered', async () => {
  for (let i = 0; i < 20; i++) {
    const [socket, text] = (await ask(i % 2 === 0 ? '/healthz' : '/readyz'))!;
    expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close\r\n/i);
    await once(socket, 'close');
  }
});

test('kept connections count for both environments, and open checkout pages have their own limit', async () => {
  const { keys } = await scene.account();
  const body = { amount: '25.00', currency: 'USDC', network: 'base' };
  const { json } = await scene.client.call('POST', '/v1/payments', { key: keys.sandbox, body });
  const streams: TLSSocket[] = [];
  for (let i = 0; i < 6; i++) {
    const [socket, text] = (await ask(`/checkout/${json.id}/live`))!;
    expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*text\/event-stream/);
    streams.push(socket);
  }
  // One is the kept connection of the client above.
  const kept = [await ask('/v1/networks'), await ask('/v1/networks', 'production'), await ask('/v1/networks')];
  expect(kept.map(each => each?.[1].slice(9, 12))).toEqual(['200', '200', '200']);
  expect(await ask('/v1/networks')).toBeNull();
  expect(await ask('/v1/networks', 'production')).toBeNull();
  kept[0]![0].destroy();
  await eventually(async () => expect(await ask('/v1/networks')).not.toBeNull());
  expect(streams.map(socket => socket.destroyed)).toEqual(Array(6).fill(false));
});
