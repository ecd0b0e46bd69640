import { expect, test } from 'vitest';
import { performed } from '../announcements/performed.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { eventually } from '../support/until.ts';
import { startMailScene } from './mailScene.ts';

test('a stop ends the attempt at a server that fell silent, and the next process sends the mail', async () => {
  const { dashboard, receiver, sql, settled, env } = await startMailScene();
  const { scene, accountId } = dashboard;
  receiver.mood = () => 'silent';
  await performed(scene.admin, accountId, { action: 'wallet.set', environment: 'production' });
  // Alerts are sent by another loop, at its own pace.
  const waiting = async () => (await sql<{ kind: string }>('select kind from outbox')).map(({ kind }) => kind);
  await eventually(async () => expect(await waiting()).toEqual(['mail']));
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

test('a stop ends a test mail that somebody waits for', async () => {
  const { dashboard, receiver } = await startMailScene();
  receiver.mood = () => 'silent';
  const owner = await dashboard.as('owner');
  const asked = owner.call('POST /mail/test').catch(() => null);
  await eventually(() => expect(receiver.said).not.toEqual([]));
  await dashboard.scene.florin.stop();
  expect(receiver.open()).toBe(0);
  await asked;
});
