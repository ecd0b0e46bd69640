import { expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createReachedAdvance } from '../../src/workers/reachedAdvance.ts';
import { startQuietScene } from './quietScene.ts';

const caip2 = 'eip155:31337';

test('a fault of what runs beside the next blocks is thrown once, to whoever waits for it', async () => {
  const { context, scene } = await startQuietScene();
  const settings = { log: silentLog, maxConnections: 1, applicationName: 'reached' };
  const db = openDatabase({ connectionString: scene.config.database!.url }, settings);
  const reached = createReachedAdvance({ ...context, db }, caip2, new AbortController().signal);
  await reached.start();
  await reached.finish();
  expect(reached.isRunning()).toBe(false);

  await db.close();
  await reached.start();
  await expect(reached.finish()).rejects.toThrow();
  expect(reached.isRunning()).toBe(false);
  await reached.finish();
  await reached.start();
  await expect(reached.start()).rejects.toThrow();
});
