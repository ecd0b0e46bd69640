import { expect, test } from 'vitest';
import { createRandom } from '../campaigns/fuzz/random.ts';
import { faultyMoods, mailFaults, makeNotices, settleMails } from '../campaigns/mailFaults/mailFaultRun.ts';
import { startMailScene } from './mailScene.ts';
import { type SmtpMood, smtpMoods } from './smtpReceiver.ts';

const total = 60;

test('a mail server that fails in every way loses no notice', { tags: ['thorough'] }, async () => {
  const { dashboard, receiver, logText } = await startMailScene();
  const { scene, accountId } = dashboard;
  const moods: SmtpMood[] = [];
  const choose = faultyMoods(0.5, createRandom('mails').next);
  receiver.mood = () => {
    moods.push(choose());
    return moods.at(-1)!;
  };
  await makeNotices(scene.admin, [accountId], total);
  await settleMails(scene.admin, { rounds: 400, intervalMs: 100, tell: () => {} });
  expect(
    await mailFaults(scene.admin, receiver, { total, log: await logText(), addresses: ['owner1@example.com'] }),
  ).toEqual([]);
  expect(receiver.kept.length + receiver.refused.length).toBeGreaterThanOrEqual(total);
  expect(receiver.refused.length).toBeGreaterThan(0);
  expect(new Set(moods)).toEqual(new Set(smtpMoods.filter(mood => mood !== 'refuse person')));
});

test('the check finds a notice that was lost, and an address in the log, also in an error', async () => {
  const {
    receiver,
    log,
    logText,
    dashboard: { scene },
  } = await startMailScene();
  log.warn({ err: new Error('550 <owner1@example.com> is unknown here') }, 'a mail was refused');
  const given = { total: 1, log: await logText(), addresses: ['owner1@example.com'] };
  expect(await mailFaults(scene.admin, receiver, given)).toEqual([
    '1 notices were lost, the first is notice-0-end',
    'the log contains an e-mail address',
  ]);
});
