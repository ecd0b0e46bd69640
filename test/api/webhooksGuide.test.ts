import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { retryDelaysMs } from '../../src/core/delivery.ts';
import { eventTypes } from '../../src/core/payment/states.ts';
import { signWebhook } from '../../src/webhooks/sign.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { type Answer, send } from '../support/send.ts';
import { until } from '../support/until.ts';
import { type EventCalls, eventCalls } from './eventCalls.ts';

const root = new URL('../../', import.meta.url);
const guide = await readFile(new URL('docs/webhooks.md', root), 'utf8');
const quickstart = await readFile(new URL('docs/quickstart.md', root), 'utf8');
const programsOf = (text: string): string[] => [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code!);
const programs = [
  ['the package', programsOf(guide)[0]!],
  ['no package', programsOf(guide)[1]!],
  ['the quickstart', programsOf(quickstart)[0]!],
] as const;

let scene: TestFlorin;
let room: string;
beforeAll(async () => {
  scene = await startTestFlorin({ env: { FLORIN_ROLES: 'api,watch,deliver' } });
  room = await mkdtemp(join(tmpdir(), 'florin-guide-'));
  await symlink(fileURLToPath(new URL('node_modules', root)), join(room, 'node_modules'));
});

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
};

type Receiver = { post(body: string, headers: object): Promise<Answer>; output(): string; stop(): Promise<void> };

/** Runs the program as a reader would, and waits until it answers. */
const run = async (program: string, port: number, secret: string): Promise<Receiver> => {
  const file = join(room, `${port}.mjs`);
  await writeFile(file, program.replace('9000', String(port)));
  const env = { PATH: process.env.PATH, SECRET: secret, PORT: String(port) };
  const child: ChildProcess = spawn(process.execPath, [file], { env, cwd: room, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', chunk => {
      output += chunk;
    });
  }
  const post = (body: string, headers: object): Promise<Answer> =>
    send(`http://127.0.0.1:${port}`, 'POST', '/', { body, headers: headers as Record<string, string> });
  await until(
    () => post('{}', {}).catch(() => null),
    answer => answer?.status === 400,
  );
  return {
    post,
    output: () => output,
    async stop() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
};

const expectDelivered = async (shop: EventCalls, endpointId: string): Promise<void> => {
  const [delivery] = await until(
    () => shop.deliveries(endpointId),
    ([latest]) => latest?.attempts > 0,
  );
  expect(delivery).toMatchObject({ status: 'succeeded', attempts: 1 });
};

describe.each(programs)('the receiver with %s', (_name, program) => {
  test('takes what Florin sends, and nothing else', async () => {
    const shop = eventCalls(scene, await scene.account());
    const port = await freePort();
    const { id: endpointId, secret } = await shop.endpoint(`http://127.0.0.1:${port}/`);
    const receiver = await run(program, port, secret);
    try {
      const { id: paymentId } = await shop.made();
      await expectDelivered(shop, endpointId);
      await until(
        async () => receiver.output(),
        output => output.includes('payment.created'),
      );
      if (program.includes('event.data.id')) expect(receiver.output()).toContain(paymentId);

      const body = JSON.stringify({ id: 'evt_1', type: 'payment.forged', data: { id: 'pay_1' } });
      const timestampSeconds = Math.floor(Date.now() / 1000);
      const sign = (key: string, seconds: number) =>
        signWebhook({ secrets: [key], id: 'evt_1', timestampSeconds: seconds, body });
      const another = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
      expect((await receiver.post(body, sign(another, timestampSeconds))).status).toBe(400);
      expect((await receiver.post(body, sign(secret, timestampSeconds - 3_600))).status).toBe(400);
      expect((await receiver.post(`${body} `, sign(secret, timestampSeconds))).status).toBe(400);
      expect(receiver.output()).not.toContain('payment.forged');
      expect((await receiver.post(body, sign(secret, timestampSeconds))).status).toBe(204);

      // The program has the old secret, which still verifies for 24 hours.
      await shop.post(`/webhooks/${endpointId}/rotate`);
      await shop.act(paymentId, 'cancel');
      await expectDelivered(shop, endpointId);
    } finally {
      await receiver.stop();
    }
  });
});

test('the guide names every kind and no other', () => {
  const named = [...guide.matchAll(/^\| `((?:payment|account|webhook)\.[a-z]+)` \|/gm)].map(([, kind]) => kind);
  expect(named).toEqual([...eventTypes]);
});

test.each(['production', 'sandbox'] as const)('the guide has the retry schedule of %s', environment => {
  const inWords = (ms: number): string => {
    if (ms <= 60_000) return `${ms / 1_000} s`;
    return ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`;
  };
  expect(guide).toContain(`| ${environment} | ${retryDelaysMs[environment].map(inWords).join(', ')} |`);
});
