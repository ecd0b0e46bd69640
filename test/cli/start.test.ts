import { once } from 'node:events';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { readyLines } from '../../src/cli/startCommand.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../api/webhookReceiver.ts';
import { send } from '../support/send.ts';
import { eventually } from '../support/until.ts';
import { makeRoom, run, type Server, startServer } from './cliProcess.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let room: string;
let receiver: WebhookReceiver;
let server: Server;
beforeAll(async () => {
  room = await makeRoom();
  receiver = await startWebhookReceiver();
});

const firstRunFile = () => join(room, 'data', 'first-run');
const setupLink = async () => /^setup_link (\S+)$/m.exec(await readFile(firstRunFile(), 'utf8'))![1]!;
const firstKey = async () => /^sandbox_key (sk_test_\w+)$/m.exec(await readFile(firstRunFile(), 'utf8'))![1]!;
const call = async (method: string, path: string, body?: unknown) =>
  send(server.urls.sandbox, method, path, { ca: server.ca, key: await firstKey(), body });

/** A test delivery that the receiver has got and not answered yet: a request in flight. */
const startRunningRequest = async () => {
  const { id } = (await call('POST', '/v1/webhooks', { url: receiver.url })).json;
  const arrived = Promise.withResolvers<() => void>();
  receiver.answer = response => arrived.resolve(() => response.end());
  const answer = call('POST', `/v1/webhooks/${id}/test`).catch((error: NodeJS.ErrnoException) => error);
  return { answer, release: await arrived.promise };
};

/** Takes a port and gives it back; fails where somebody has it. */
const listenOnce = async (port: number): Promise<number> => {
  const taken = createServer().listen(port, '127.0.0.1');
  await once(taken, 'listening');
  const { port: bound } = taken.address() as AddressInfo;
  taken.close();
  await once(taken, 'close');
  return bound;
};
const freePort = () => listenOnce(0);

const portsOf = ({ urls }: Server): string[] => [
  '--port',
  new URL(urls.production).port,
  '--sandbox-port',
  new URL(urls.sandbox).port,
];

/** In order: each goes on where the one before has left the data directory. */
describe.sequential('florin start', () => {
  let payment: { id: string };

  test('says that it is ready and where, and puts the first key into a file that only its owner may read', async () => {
    server = await startServer(room);
    const output = server.stdout();
    expect(output).toMatch(/^Florin is ready$/m);
    expect(output).toContain(firstRunFile());
    expect(server.stderr()).not.toContain('Warning');
    expect(output + server.stderr(), 'secrets are for terminals').not.toMatch(/sk_(test|live)_\w/);
    expect(output + server.stderr(), 'and so is the link').not.toContain('/dashboard/setup');
    expect((await stat(firstRunFile())).mode & 0o777).toBe(0o600);
    for (const [environment, url] of Object.entries(server.urls)) {
      expect(url).toMatch(/^https:\/\/localhost:\d+$/);
      const networks = await send(url, 'GET', '/v1/networks', { ca: server.ca });
      expect(networks.json.data[0].environment).toBe(environment);
    }
    const body = { amount: '5', currency: 'USDC', network: 'base', metadata: { order: 1 } };
    const made = await eventually(async () => {
      const answer = await call('POST', '/v1/payments', body);
      expect(answer.status, answer.text).toBe(200);
      return answer;
    });
    payment = made.json;
  });

  test('puts a setup link there as well, which makes the owner', async () => {
    const { origin, hash } = new URL(await setupLink());
    expect(origin).toBe(server.urls.production);
    const check = { body: { token: hash.slice(1) }, ca: server.ca, headers: { origin } };
    const checked = await send(origin, 'POST', '/dashboard/api/setup/check', check);
    expect(checked.json).toEqual({ accountName: 'Default' });
    const made = await run(['setup-link', '--json'], room);
    expect(made.code, made.stderr).toBe(0);
    expect(JSON.parse(made.stdout).link).toMatch(new RegExp(`^${origin}/dashboard/setup#[A-Za-z0-9_-]{43}$`));
  });

  test('keeps what must stay private from others', async () => {
    for (const name of ['keys/master', 'tls/authority.pem', 'tls/server.pem']) {
      expect((await stat(join(room, 'data', name))).mode & 0o077, name).toBe(0);
    }
  });

  test('on a directory in use says so and ends, and the first goes on', async () => {
    const second = await run(['start', '--port', '0', '--sandbox-port', '0'], room);
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/already running/);
    expect(second.stderr).toContain(String(server.pid));
    expect(second.stderr).not.toMatch(/\n\s+at /);
    expect(second.stdout).not.toContain('Florin is ready');
    expect((await call('GET', `/v1/payments/${payment.id}`)).json).toEqual(payment);
  });

  test('SIGTERM lets a running request finish, takes no new ones, and ends with 0', async () => {
    const { answer, release } = await startRunningRequest();
    server.kill('SIGTERM');
    await eventually(() => expect(call('GET', '/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' }));
    release();
    const finished = await answer;
    expect(finished).toMatchObject({ status: 200, json: { delivered: true } });
    const { code, stdout, stderr } = await server.ended;
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/\nFlorin has stopped\n$/);
  });

  test('started again it has kept payments and keys, and tells systemd that it is ready, and nothing of a first run', async () => {
    const key = await firstKey();
    const link = await setupLink();
    const programs = join(room, 'programs');
    await mkdir(programs);
    await writeFile(join(programs, 'systemd-notify'), '#!/bin/sh\necho "$@" > "$NOTIFY_SOCKET"\n', { mode: 0o755 });
    const told = join(room, 'told');
    const env = { PATH: `${programs}:${process.env.PATH}`, NOTIFY_SOCKET: told };
    server = await startServer(room, { args: portsOf(server), env });
    await eventually(async () => expect(await readFile(told, 'utf8')).toBe('--ready\n'));
    expect(server.stdout()).not.toContain('the first sandbox key');
    expect(await firstKey()).toBe(key);
    expect(await setupLink(), 'there is no owner yet').not.toBe(link);
    expect((await call('GET', `/v1/payments/${payment.id}`)).json).toEqual(payment);
    expect((await call('GET', '/v1/payments')).json.pagination.total).toBe(1);
    expect((await call('GET', '/v1/webhooks')).json.pagination.total).toBe(1);
  });

  test('ends with 0 where nobody reads what it writes any more', { tags: ['thorough'] }, async () => {
    server.leave();
    server.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0 });
    server = await startServer(room, { args: portsOf(server) });
  });

  test('a second signal, not of the same moment, ends it at once', { tags: ['thorough'] }, async () => {
    const { answer, release } = await startRunningRequest();
    let isOver = false;
    const ended = server.ended.finally(() => {
      isOver = true;
    });
    // What comes within half a second counts as the same key press, so it is asked until it gives up.
    while (!isOver) {
      server.kill('SIGINT');
      await Promise.race([ended, new Promise(resolve => setTimeout(resolve, 100))]);
    }
    const { code, stdout } = await ended;
    expect(code).toBe(1);
    expect(stdout).not.toContain('has stopped');
    expect(await answer, 'the running request was cut').toBeInstanceOf(Error);
    release();
  });

  test('after such an end it starts again with everything', { tags: ['thorough'] }, async () => {
    server = await startServer(room, { args: portsOf(server) });
    expect((await call('GET', `/v1/payments/${payment.id}`)).json).toEqual(payment);
  });

  test('once there is an owner, no link is made, and a command that asks for one says what to do', {
    tags: ['thorough'],
  }, async () => {
    const { origin, hash } = new URL(await setupLink());
    const person = { name: 'Ada', email: 'ada@example.com', password: 'a quiet river at noon' };
    const body = { token: hash.slice(1), ...person };
    const made = await send(origin, 'POST', '/dashboard/api/setup', { body, ca: server.ca, headers: { origin } });
    expect(made.status, made.text).toBe(200);
    const refused = await run(['setup-link'], room);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/has an owner[\s\S]*invite/);
    server.kill('SIGINT');
    const { code, stderr } = await server.ended;
    expect(code, stderr).toBe(0);
    server = await startServer(room, { args: portsOf(server) });
    expect(server.stdout()).not.toContain('first run');
    server.kill('SIGINT');
    expect((await server.ended).code).toBe(0);
  });
});

describe('a start that cannot be', () => {
  test('lists every problem of its configuration, and nothing else happens', async () => {
    const env = {
      FLORIN_PORT: 'https',
      FLORIN_PUBLIC_URL: 'http://pay.example',
      FLORIN_MASTER_KEY: 'hunter2',
      FLORIN_COLOUR: 'red',
      FLORIN_TLS_CERT: 'cert.pem',
    };
    const elsewhere = join(room, 'unused');
    const { code, stdout, stderr } = await run(['start', '--data-dir', elsewhere], room, env);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    for (const name of Object.keys(env)) expect(stderr).toContain(name);
    expect(stderr).toContain('FLORIN_TLS_KEY');
    expect(stderr, 'no secret is quoted').not.toContain('hunter2');
    expect(stderr).not.toMatch(/\n\s+at /);
    await expect(stat(elsewhere)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.each(['--port', '--sandbox-port'])(
    'says that the port of %s is taken, and leaves nothing behind',
    { tags: ['thorough'] },
    async flag => {
      const taken = new URL(receiver.url).port;
      const other = await makeRoom();
      const ports = { '--port': '0', '--sandbox-port': '0', [flag]: taken };
      const args = ['start', '--host', '127.0.0.1', ...Object.entries(ports).flat()];
      const { code, stdout, stderr } = await run(args, other);
      expect(code, stderr).toBe(1);
      expect(stderr).toContain(`Port ${taken} is in use`);
      expect(stderr).not.toMatch(/\n\s+at /);
      expect(stdout).not.toContain('Florin is ready');
      await expect(stat(join(other, 'data', 'florin.pid'))).rejects.toMatchObject({ code: 'ENOENT' });

      // The failed start must not have used up the first run.
      const free = await startServer(other);
      expect(await readFile(join(other, 'data', 'first-run'), 'utf8')).toMatch(/^sandbox_key sk_test_\w{38}$/m);
      free.kill('SIGTERM');
      expect((await free.ended).code).toBe(0);
      await rm(other, { recursive: true, force: true });
    },
  );

  test('names all ports that are taken, before anything is made', { tags: ['thorough'] }, async () => {
    const [other, second] = [await makeRoom(), await startWebhookReceiver()];
    try {
      const [production, sandbox] = [receiver, second].map(({ url }) => new URL(url).port) as [string, string];
      const args = ['start', '--host', '127.0.0.1', '--port', production, '--sandbox-port', sandbox];
      const { code, stderr } = await run(args, other);
      expect(code, stderr).toBe(1);
      for (const port of [production, sandbox]) expect(stderr).toContain(`Port ${port} is in use`);
      expect(stderr).not.toMatch(/\n\s+at /);
      await expect(stat(join(other, 'data', 'postgres'))).rejects.toMatchObject({ code: 'ENOENT' });
    } finally {
      await second.close();
      await rm(other, { recursive: true, force: true });
    }
  });

  test('ends and frees its ports when the first key cannot be handed over', { tags: ['thorough'] }, async () => {
    const other = await makeRoom();
    await mkdir(join(other, 'data', 'first-run', 'in-the-way'), { recursive: true });
    await chmod(join(other, 'data'), 0o711);
    const [production, sandbox] = [await freePort(), await freePort()];
    const args = ['start', '--host', '127.0.0.1', '--port', `${production}`, '--sandbox-port', `${sandbox}`];
    const { code, stdout, stderr } = await run(args, other);
    expect(code, stderr).toBe(1);
    expect(stdout).not.toContain('Florin is ready');
    expect(stderr).toContain('first-run');
    await expect(stat(join(other, 'data', 'florin.pid'))).rejects.toMatchObject({ code: 'ENOENT' });
    for (const port of [production, sandbox]) await listenOnce(port);
    await rm(other, { recursive: true, force: true });
  });

  test('an unknown flag is refused', async () => {
    const { code, stderr } = await run(['start', '--prot', '1'], room);
    expect(code).toBe(2);
    expect(stderr).toContain('--prot');
  });
});

test('addresses are said only where something listens on them', () => {
  const urls = { production: 'https://p.example', sandbox: 'https://s.example' };
  const florin = { urls, dashboardUrl: urls.production, caPath: '/ca.pem', notices: [] };
  expect(readyLines({ roles: ['api', 'watch'] }, florin).join('\n')).toMatch(
    /p\.example[\s\S]*s\.example[\s\S]*ca\.pem/,
  );
  expect(readyLines({ roles: ['watch'] }, florin)).toEqual(['Florin is ready', '  roles       watch']);
  for (const roles of [['api', 'watch'], ['watch']] as const) {
    expect(readyLines({ roles }, { ...florin, notices: ['Take note.'] }).slice(-2)).toEqual(['', '  Take note.']);
  }
});
