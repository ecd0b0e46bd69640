import { expect, test } from 'vitest';
import { createRandom } from '../campaigns/fuzz/random.ts';
import { faultyMoods, mailFaults, makeNotices, settleMails } from '../campaigns/mailFaults/mailFaultRun.ts';
import { startDashboard } from '../support/dashboard.ts';
import { startMailScene, startReceiver } from './mailScene.ts';

const total = 60;

test('a mail server that fails in every way loses no notice', async () => {
  const { dashboard, receiver, lines } = await startMailScene();
  const { scene, accountId } = dashboard;
  receiver.mood = faultyMoods(0.5, createRandom('mails').next);
  await makeNotices(scene.admin, [accountId], total);
  await settleMails(scene.admin, { rounds: 400, intervalMs: 100, tell: () => {} });
  expect(
    await mailFaults(scene.admin, receiver, { total, log: lines.join('\n'), addresses: ['owner1@example.com'] }),
  ).toEqual([]);
  expect(receiver.kept.length + receiver.refused.length).toBeGreaterThanOrEqual(total);
  expect(receiver.refused.length).toBeGreaterThan(0);
});

test('the check finds a notice that was lost, and an address in the log', async () => {
  const receiver = await startReceiver();
  const { scene } = await startDashboard();
  const given = { total: 1, log: 'owner1@example.com', addresses: ['owner1@example.com'] };
  expect(await mailFaults(scene.admin, receiver, given)).toEqual([
    '1 notices were lost, the first is notice-0-end',
    'the log contains an e-mail address',
  ]);
});
