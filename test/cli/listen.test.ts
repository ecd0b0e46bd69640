// @module-tag thorough
import { Webhook } from 'standardwebhooks';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { eventTypes, starEventTypes } from '../../src/core/payment/states.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../api/webhookReceiver.ts';
import { type Answer, send } from '../support/send.ts';
import { eventually } from '../support/until.ts';
import { type CliProcess, launch, makeRoom, run, type Server, startServer } from './cliProcess.ts';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let room: string;
let server: Server;
let receiver: WebhookReceiver;
let [account, key] = ['', ''];
beforeAll(async () => {
  room = await makeRoom();
  receiver = await startWebhookReceiver();
  server = await startServer(room);
  ({ id: account } = await json('accounts', 'create', '--name', 'Corner shop', '--plan', 'enterprise'));
  ({ key } = await json('keys', 'create', '--account', account));
});
beforeEach(() => receiver.reset());

const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await run([...args, '--json'], room);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};
const ask = (method: string, path: string, body?: object): Promise<Answer> =>
  send(server.urls.sandbox, method, path, { ca: server.ca, key, body });
const trigger = (type: string): Promise<{ id: string; endpoints: number }> =>
  json('trigger', type, '--account', account);

/** Forwarding for as long as `during` takes; answers what it printed. */
const listening = async (args: readonly string[], during: (listener: CliProcess) => Promise<void>) => {
  const listener = launch(['listen', '--account', account, '--forward-to', `${receiver.url}/hooks`, ...args], room);
  try {
    await eventually(() => expect(listener.stdout()).toContain('whsec_'));
    await during(listener);
  } finally {
    listener.kill('SIGINT');
  }
  const { code, stdout, stderr } = await listener.ended;
  expect(code, stderr).toBe(0);
  return stdout;
};
const typesOf = () => receiver.received.map(({ body }) => JSON.parse(body).type);

test('events of this account reach a receiver as they happen, signed with a secret that stays the same', async () => {
  const { secret } = await json('secrets', 'callback', '--account', account);
  const { key: otherKey } = await json('keys', 'create');
  const printed = await listening([], async listener => {
    expect(listener.stdout()).toContain(`Corner shop (${account})`);
    const order = { amount: '25', currency: 'USDC', network: 'base' };
    const others = await send(server.urls.sandbox, 'POST', '/v1/payments', {
      ca: server.ca,
      key: otherKey,
      body: order,
    });
    expect(others.status).toBe(200);
    const { id } = (await ask('POST', '/v1/payments', order)).json;
    await json('pay', id);
    const life = ['payment.created', 'payment.detected', 'payment.confirming', 'payment.completed'];
    await eventually(() => expect(typesOf()).toEqual(life));
    await eventually(() => expect(listener.stdout().match(/evt_/g)).toHaveLength(4));
    const { data } = (await ask('GET', `/v1/events?paymentId=${id}`)).json;
    expect(receiver.received.map(({ body }) => JSON.parse(body))).toEqual(data.toReversed());
  });
  for (const { path, headers, body } of receiver.received) {
    expect(path).toBe('/hooks');
    new Webhook(secret).verify(body, headers as Record<string, string>);
  }
  expect(printed).toContain(secret);
  expect(printed).toMatch(/payment\.completed +evt_\w+ +200 in \d+ ms/);
});

test('every kind of event can be triggered, and goes to endpoints that subscribe to it, too', {
  tags: ['thorough'],
}, async () => {
  const { id, secret } = (
    await ask('POST', '/v1/webhooks', { url: `${receiver.url}/endpoint`, events: ['payment.late'] })
  ).json;
  await listening([], async () => {
    for (const type of eventTypes) {
      expect(await trigger(type)).toMatchObject({ endpoints: type === 'payment.late' ? 1 : 0 });
    }
    // Also at the endpoint; security events are forwarded only when asked for.
    await eventually(() => expect(receiver.received).toHaveLength(starEventTypes.length + 1));
  });
  expect(typesOf()).not.toContain('account.security');
  const [delivered] = receiver.received.filter(({ path }) => path === '/endpoint');
  expect(new Webhook(secret).verify(delivered!.body, delivered!.headers as Record<string, string>)).toMatchObject({
    type: 'payment.late',
    data: { status: 'expired', exception: 'late', metadata: { test: true } },
  });
  await ask('DELETE', `/v1/webhooks/${id}`);
});

test('only the kinds asked for are forwarded; a receiver that fails is told of', { tags: ['thorough'] }, async () => {
  receiver.answer = response => response.writeHead(500).end();
  const printed = await listening(['--events', 'payment.expired, payment.late', '--json'], async listener => {
    for (const type of ['payment.completed', 'payment.late', 'payment.created', 'payment.expired']) await trigger(type);
    await eventually(() => expect(listener.stdout().trim().split('\n')).toHaveLength(3));
  });
  expect(typesOf()).toEqual(['payment.late', 'payment.expired']);
  const [first, ...lines] = printed
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(first).toMatchObject({ accountId: account, forwardTo: `${receiver.url}/hooks` });
  for (const line of lines) expect(line).toMatchObject({ statusCode: 500, error: 'answered 500' });
});

test('a stop of the service ends nothing: what happens afterwards is forwarded', { tags: ['thorough'] }, async () => {
  await listening([], async listener => {
    server.kill('SIGTERM');
    await server.ended;
    await eventually(() => expect(listener.stderr()).toMatch(/Cannot reach Florin/));
    server = await startServer(room);
    await trigger('payment.overpaid');
    await eventually(() => expect(typesOf()).toEqual(['payment.overpaid']));
  });
});

test.each([
  [['listen'], /--forward-to/],
  [['listen', '--forward-to', 'http://198.51.100.1/'], /--forward-to must/],
  [['listen', '--forward-to', 'nowhere'], /--forward-to must/],
  [['listen', '--forward-to', 'http://127.0.0.1:1/', '--events', 'payment.lost'], /payment\.lost is not an event type/],
  [['trigger', 'payment.lost'], /Allowed choices are payment\.created/],
  [['trigger', 'payment.late', '--account', 'acct_none'], /No account has the id/],
])('florin %j is refused with a sentence', async (args, sentence) => {
  const { code, stdout, stderr } = await run(args, room);
  expect(code).not.toBe(0);
  expect(stdout).toBe('');
  expect(stderr).toMatch(sentence);
  expect(stderr).not.toMatch(/\n\s+at /);
});
