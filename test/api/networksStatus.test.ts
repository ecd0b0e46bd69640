import { beforeAll, expect, test } from 'vitest';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import { expectError, ordinary, paymentCalls } from './paymentCalls.ts';

let scene: TestFlorin;
let account: TestAccount;
let node: number;
beforeAll(async () => {
  scene = await startTestFlorin();
  account = await scene.account();
  node = scene.florin.devChainPid()!;
});

const statuses = async (): Promise<Set<string>> => {
  const answer: Answer = await scene.client.call('GET', '/v1/networks');
  return new Set(answer.json.data.map((each: { status: string }) => each.status));
};
const allAre = (status: string) =>
  until(
    async () => [...(await statuses())],
    seen => seen.join() === status,
  );

test('networks go down with the node behind them, refuse new payments, and come back with it', {
  tags: ['thorough'],
}, async () => {
  const calls = paymentCalls(scene, account);
  await allAre('operational');
  const payment = await calls.made();

  process.kill(node, 'SIGSTOP');
  await allAre('down');
  const refused = await calls.create(ordinary);
  expectError(refused, 503, 'network_unavailable');
  expect(refused.json.error.message).toContain('base');
  expect((await calls.read(payment.id)).status, 'what exists can be read').toBe(200);
  expect((await calls.list()).json.pagination.total).toBe(1);

  process.kill(node, 'SIGCONT');
  await allAre('operational');
  expect((await calls.create(ordinary)).status).toBe(200);
});
