import { expect, test } from 'vitest';
import { performed } from '../announcements/performed.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { eventually } from '../support/until.ts';
import { startMailScene } from './mailScene.ts';

test('a stop ends the attempt at a server that fell silent, and the next process sends the mail', async () => {
  const { dashboard, receiver, sql, settled, env } = await startMailScene();
  const { scene, accountId } = dashboard;
  receiver.mood = () => 'silent';
  await performed(scene.admin, accountId, { action: 'secret.revealed', environment: 'production' });
  await eventually(() => expect(receiver.said).not.toEqual([]));
  await scene.florin.stop();
  const rows = 'select failures, next_attempt_at <= clock_timestamp() as due from outbox';
  expect(await sql(rows), 'the attempt does not count').toEqual([{ failures: 0, due: true }]);
  expect(receiver.open()).toBe(0);
  receiver.mood = () => 'accept';
  await startSecondFlorin(scene.config.database!.url, { ...env, FLORIN_ROLES: 'api,deliver' });
  await settled();
  expect(receiver.kept).toHaveLength(1);
});
