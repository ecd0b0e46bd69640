import { randomBytes } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/cli/config.ts';
import { type Florin, startFlorin } from '../../src/cli/florin.ts';
import { silentLog } from '../../src/core/log.ts';
import { createClient, type TestClient } from '../support/client.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { until } from '../support/until.ts';
import { expectError, ordinary, type PaymentCalls, paymentCalls } from './paymentCalls.ts';
import { startRpcNode } from './rpcNode.ts';

/** Two Florins on one database: the first watches, the second serves the API only. */
const body = { ...ordinary, network: 'ethereum' };
let node: Awaited<ReturnType<typeof startRpcNode>>;
let room: string;
let scene: TestFlorin;
let secondFlorin: Florin;
let secondClient: TestClient;
let first: PaymentCalls;
let second: PaymentCalls;
beforeAll(async () => {
  node = await startRpcNode(11_155_111);
  const configFile = { networks: { sandbox: { ethereum: { rpcUrls: [node.url] } } } };
  const env = { FLORIN_MASTER_KEY: randomBytes(32).toString('hex') };
  scene = await startTestFlorin({ env, configFile });
  room = await mkdtemp(join(tmpdir(), 'florin-test-'));
  await writeFile(join(room, 'florin.config.json'), JSON.stringify(configFile));
  const ports = { FLORIN_PORT: '0', FLORIN_SANDBOX_PORT: '0', FLORIN_ROLES: 'api' };
  const settings = { ...env, ...ports, DATABASE_URL: scene.config.database!.url };
  secondFlorin = await startFlorin(await loadConfig({ env: settings, cwd: room }), silentLog);
  secondClient = await createClient(secondFlorin);
  const account = await scene.account();
  first = paymentCalls(scene, account);
  second = paymentCalls({ ...scene, client: secondClient }, account);
  for (const calls of [first, second]) {
    await until(
      () => calls.create(body),
      answer => answer.status === 200,
    );
  }
});

const total = async (): Promise<number> => (await first.list('limit=1')).json.pagination.total;
const spread = <T>(count: number, ask: (calls: PaymentCalls) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(i % 2 === 0 ? first : second)));

test('a payment made on one node is read, listed and canceled on the other', async () => {
  const created = await first.create(body);
  const read = await second.read(created.json.id);
  const { checkoutUrl, ...rest } = created.json;
  expect(read.json).toMatchObject(rest);
  expect(checkoutUrl).toContain(created.json.id);
  expect((await second.list('limit=1')).json.data[0].id).toBe(created.json.id);
  expect((await second.act(created.json.id, 'cancel')).status).toBe(200);
  expect((await first.read(created.json.id)).json.status).toBe('canceled');
});

test('one Idempotency-Key on both at once creates one payment', async () => {
  for (let round = 0; round < 5; round++) {
    const before = await total();
    const sending = { headers: { 'idempotency-key': `shared-${round}` } };
    const answers = await spread(12, calls => calls.create(body, sending));
    const fresh = answers.filter(answer => answer.status === 200 && !answer.headers['idempotent-replayed']);
    expect(fresh).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 200) expect(answer.text).toBe(fresh[0]!.text);
      else expectError(answer, 409, 'idempotency_in_progress');
    }
    expect(await total()).toBe(before + 1);
    for (const calls of [first, second]) expect((await calls.create(body, sending)).text).toBe(fresh[0]!.text);
  }
});

test('one externalId on both at once creates one payment', async () => {
  const before = await total();
  const answers = await spread(12, calls => calls.create({ ...body, externalId: 'shared' }));
  const made = answers.filter(answer => answer.status === 200);
  expect(made).toHaveLength(1);
  for (const answer of answers) {
    if (answer === made[0]) continue;
    expectError(answer, 409, 'conflict', 'externalId');
    expect(answer.json.error.message).toContain(made[0]!.json.id);
  }
  expect(await total()).toBe(before + 1);
});

test('no address is given twice', async () => {
  const answers = await spread(60, calls => calls.create(body));
  expect(answers.map(answer => answer.status)).toEqual(Array(60).fill(200));
  expect(new Set(answers.map(answer => answer.json.address)).size).toBe(60);
  expect(new Set(answers.map(answer => answer.json.id)).size).toBe(60);
});

test('one cancel of many on both succeeds, and the history has it once', async () => {
  const { id } = (await first.create(body)).json;
  const answers = await spread(10, calls => calls.act(id, 'cancel'));
  expect(answers.map(answer => answer.status).sort()).toEqual([200, ...Array(9).fill(409)]);
  const history = { name: 'test-history', text: 'select type from events where payment_id = $1 order by sequence' };
  expect(await scene.admin.db.query(history, [id])).toEqual([
    { type: 'payment.created' },
    { type: 'payment.canceled' },
  ]);
});

test('keys and externalIds that arrive on both in opposite order never end in an error of the service', async () => {
  for (let round = 0; round < 6; round++) {
    const names = Array.from({ length: 40 }, (_, i) => `crossed-${round}-${i}`);
    const send = (calls: PaymentCalls, name: string) =>
      calls.create({ ...body, externalId: name }, { headers: { 'idempotency-key': name } });
    const answers = await Promise.all([
      ...names.map(name => send(first, name)),
      ...names.toReversed().map(name => send(second, name)),
    ]);
    expect(answers.filter(answer => answer.status >= 500).map(answer => answer.text)).toEqual([]);
    const made = new Set(answers.filter(answer => answer.status === 200).map(answer => answer.json.id));
    expect(made.size).toBe(40);
  }
});
