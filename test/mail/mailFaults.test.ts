import { expect, test } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { createRandom } from '../campaigns/fuzz/random.ts';
import { faultyMoods, mailFaults, makeNotices, settleMails } from '../campaigns/mailFaults/mailFaultRun.ts';
import { startDashboard } from '../support/dashboard.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startSmtpReceiver } from './smtpReceiver.ts';

const total = 60;

test('a mail server that fails in every way loses no notice', async () => {
  const receiver = await startSmtpReceiver();
  atEndOfFile(receiver.close);
  const lines: string[] = [];
  const write: Log['warn'] = (fields, message) => void lines.push(`${JSON.stringify(fields)} ${message}`);
  const env = {
    FLORIN_ROLES: 'api,watch,deliver',
    FLORIN_SMTP_URL: `smtp://127.0.0.1:${receiver.port}`,
    FLORIN_MAIL_FROM: 'florin@shop.example',
  };
  const { scene, accountId } = await startDashboard({
    env,
    log: { debug: write, info: write, warn: write, error: write },
  });
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
  const receiver = await startSmtpReceiver();
  atEndOfFile(receiver.close);
  const { scene } = await startDashboard();
  const given = { total: 1, log: 'owner1@example.com', addresses: ['owner1@example.com'] };
  expect(await mailFaults(scene.admin, receiver, given)).toEqual([
    '1 notices were lost, the first is notice-0-end',
    'the log contains an e-mail address',
  ]);
});
