import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/cli/config.ts';
import { createDealer } from '../../src/cli/processes/frontDoors.ts';
import { silentLog } from '../../src/core/log.ts';
import { atEndOfFile } from '../support/endOfFile.ts';

const patienceMs = 60_000;

/** A dealer behind a port, and one connection that it has accepted. */
const acceptOne = async () => {
  const dealer = createDealer(await loadConfig({ env: {}, flags: {} }), silentLog);
  const accepted = Promise.withResolvers<void>();
  const server = createServer({ pauseOnConnect: true }, socket => {
    dealer.accept(1, socket);
    accepted.resolve();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  atEndOfFile(async () => {
    client.destroy();
    server.close();
  });
  await accepted.promise;
  return { dealer, client };
};

const watch = (promise: Promise<void>) => {
  const state = { isOver: false };
  void promise.then(() => {
    state.isOver = true;
  });
  return state;
};
const turn = () => new Promise(resolve => setImmediate(resolve));

test('connections are settled once a process has taken them, also after another one ended with them', async () => {
  const { dealer } = await acceptOne();
  const settled = dealer.settle(patienceMs);
  const state = watch(settled);
  const given: number[] = [];
  dealer.enter(({ id }) => given.push(id)).leave();
  const taker = dealer.enter(({ id }) => given.push(id));
  expect(given).toHaveLength(2);
  await turn();
  expect(state.isOver).toBe(false);
  taker.tell({ taken: [given[1]!], closed: [], counted: [] });
  await settled;
  await dealer.settle(patienceMs);
});

test('what no process takes in time is closed afterwards', async () => {
  const { dealer, client } = await acceptOne();
  const closed = once(client.resume(), 'close');
  await dealer.settle(1);
  expect(client.destroyed).toBe(false);
  dealer.close();
  await closed;
  await dealer.settle(patienceMs);
});
