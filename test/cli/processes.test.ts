// @module-tag thorough
import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from '../api/webhookReceiver.ts';
import { scrape } from '../metrics/scrape.ts';
import { processesBelow } from '../support/processesBelow.mjs';
import { type Answer, send } from '../support/send.ts';
import { eventually } from '../support/until.ts';
import { makeRoom, run, type Server, startServer } from './cliProcess.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

const names = ['api-1', 'api-2', 'deliver', 'watch'];

let room: string;
let receiver: WebhookReceiver;
let server: Server;
let metricsPort: number;
let key: string;

const freePort = async (): Promise<number> => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  taken.close();
  await once(taken, 'close');
  return port;
};

const startAll = (args: readonly string[] = ['--port', '0', '--sandbox-port', '0']): Promise<Server> =>
  startServer(room, {
    args: [...args, '--metrics-port', `${metricsPort}`],
    env: { FLORIN_PROCESSES: '2', FLORIN_LOG_LEVEL: 'info' },
  });

beforeAll(async () => {
  room = await makeRoom();
  receiver = await startWebhookReceiver();
  metricsPort = await freePort();
  server = await startAll();
  const { id } = await json('accounts', 'create', '--name', 'T', '--plan', 'enterprise', '--rate-limit', '1000000');
  const scopes = 'payments:read,payments:write,webhooks:read,webhooks:write';
  ({ key } = await json('keys', 'create', '--account', id, '--environment', 'sandbox', '--scopes', scopes));
});

const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await run([...args, '--json'], room);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};
/** Each call has a connection of its own. */
const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
  send(server.urls.sandbox, method, path, { ca: server.ca, key, body });
const made = async (): Promise<{ id: string }> => {
  const answer = await call('POST', '/v1/payments', { amount: '5', currency: 'USDC', network: 'base' });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};

type Line = { msg: string; process: string; name?: string; pid?: number };
const logged = (message: string): Line[] =>
  server
    .stderr()
    .split('\n')
    .filter(line => line.endsWith('}'))
    .map((line): Line => JSON.parse(line))
    .filter(({ msg }) => msg === message);

/** The process that has this name now, and not one of those before it. */
const pidOf = (name: string, former: readonly number[] = []): Promise<number> =>
  eventually(() => {
    const found = logged('a process is ready').findLast(line => line.name === name)?.pid;
    expect(found, server.stderr()).toBeDefined();
    expect(former).not.toContain(found);
    return found!;
  });

const childrenLeft = () => processesBelow(room).filter(({ command }) => command.includes('processes/childEntry.ts'));

/** In order: each goes on where the one before has left the data directory. */
describe.sequential('florin start with FLORIN_PROCESSES=2', () => {
  test('is ready once, and both processes for requests serve', async () => {
    expect(server.stdout().match(/Florin is ready/g)).toHaveLength(1);
    const payments = await Promise.all(Array.from({ length: 8 }, made));
    expect(new Set(payments.map(({ id }) => id)).size).toBe(8);
    await eventually(() => {
      const served = new Set(logged('request').map(line => line.process));
      expect([...served].sort()).toEqual(['api-1', 'api-2']);
    });
  });

  test('a TLS session is resumed with whichever process', async () => {
    const { hostname: host, port } = new URL(server.urls.sandbox);
    const open = (session?: Buffer) =>
      connect({ host, port: Number(port), ca: server.ca, ...(session && { session }) });
    const first = open();
    const [session] = (await once(first, 'session')) as [Buffer];
    first.destroy();
    // Connections are dealt out in turn.
    for (let i = 0; i < 4; i++) {
      const socket = open(session);
      await once(socket, 'secureConnect');
      expect(socket.isSessionReused()).toBe(true);
      socket.destroy();
    }
  });

  test('a payment is completed and its webhook delivered', async () => {
    const endpoint = await call('POST', '/v1/webhooks', { url: receiver.url });
    expect(endpoint.status, endpoint.text).toBe(200);
    const { id } = await made();
    expect(await json('pay', id)).toMatchObject({ status: 'completed' });
    await eventually(() => expect(receiver.received.map(({ body }) => body).join('\n')).toContain('payment.completed'));
  });

  test('one scrape shows every process, and the database once', async () => {
    const families = await scrape({ metricsPort });
    const samplesOf = (name: string) => families.find(family => family.name === name)!.samples;
    const processesOf = (name: string) => samplesOf(name).map(({ labels }) => labels.process);
    expect(processesOf('process_start_time_seconds').sort()).toEqual([...names, 'supervisor'].sort());
    expect(processesOf('florin_process_up').sort()).toEqual(names);
    expect(samplesOf('florin_process_up').map(({ value }) => value)).toEqual([1, 1, 1, 1]);
    expect(samplesOf('florin_database_up')).toMatchObject([{ labels: {}, value: 1 }]);
  });

  test('a process for requests that is killed is replaced, while the other one serves', async () => {
    const before = await pidOf('api-1');
    const results: Promise<number | string>[] = [];
    const ask = () =>
      call('GET', '/v1/payments').then(
        ({ status }) => status,
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      );
    for (let i = 0; i < 10; i++) results.push(ask());
    process.kill(before, 'SIGKILL');
    await eventually(() => expect(logged('a process ended unexpectedly and will be replaced')).toHaveLength(1));
    // From here on, no connection goes to the one that is gone.
    for (let i = 0; i < 10; i++) expect(await ask()).toBe(200);
    for (const result of await Promise.all(results)) {
      expect(result, 'served, or cut with the process').toSatisfy(
        each => each === 200 || each === 'ECONNRESET' || /socket/i.test(`${each}`),
      );
    }
    const now = await pidOf('api-1', [before]);
    await eventually(async () => {
      await ask();
      expect(server.stderr().slice(server.stderr().indexOf(`"pid":${now}`))).toMatch(/"process":"api-1".*"request"/);
    });
  });

  test('a watcher and a deliverer that are killed are replaced, and later payments complete', async () => {
    const before = [await pidOf('watch'), await pidOf('deliver')];
    for (const pid of before) process.kill(pid, 'SIGKILL');
    const { id } = await made();
    expect(await json('pay', id)).toMatchObject({ status: 'completed' });
    await eventually(() =>
      expect(
        receiver.received
          .map(({ body }) => body)
          .filter(body => `${body}`.includes(id))
          .join('\n'),
      ).toContain('payment.completed'),
    );
    await pidOf('watch', before);
    await pidOf('deliver', before);
  });

  test('without their supervisor all end, and the next start goes on', async () => {
    const { id } = await made();
    server.kill('SIGKILL');
    await server.ended;
    await eventually(() => expect(childrenLeft()).toEqual([]));
    const ports = ['--port', new URL(server.urls.production).port, '--sandbox-port', new URL(server.urls.sandbox).port];
    server = await startAll(ports);
    expect((await call('GET', `/v1/payments/${id}`)).json).toMatchObject({ id });
    const later = await made();
    expect(await json('pay', later.id)).toMatchObject({ status: 'completed' });
  });

  test('a signal that comes twice, and to every process, ends all in order and with 0', async () => {
    const pids = await Promise.all(names.map(name => pidOf(name)));
    for (const pid of pids) process.kill(pid, 'SIGINT');
    server.kill('SIGINT');
    server.kill('SIGINT');
    const { code, stdout, stderr } = await server.ended;
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/\nFlorin has stopped\n$/);
    expect(stderr).not.toContain('unexpectedly');
    expect(childrenLeft()).toEqual([]);
  });

  test('a process that cannot be replaced ends all, with the reason', async () => {
    server = await startAll();
    const [path, aside] = ['master', 'aside'].map(name => join(room, 'data', 'keys', name)) as [string, string];
    await rename(path, aside);
    await writeFile(path, 'ab'.repeat(32), { mode: 0o600 });
    process.kill(await pidOf('deliver'), 'SIGKILL');
    const { code, stderr } = await server.ended;
    await rename(aside, path);
    expect(code, stderr).toBe(1);
    expect(stderr).toContain('- The master key does not match this database.');
    expect(childrenLeft()).toEqual([]);
  });
});
