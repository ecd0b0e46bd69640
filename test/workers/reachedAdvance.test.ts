import { beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createReachedAdvance } from '../../src/workers/reachedAdvance.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';

const caip2 = 'eip155:31337';
const count = 250;

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const create = (turns = { running: 0 }, context = quiet.context) =>
  createReachedAdvance(context, caip2, { turns, signal: new AbortController().signal });

/** Payments that wait for a height which the chain has. */
const makeDue = async (): Promise<void> => {
  const { account } = await quiet.overdue(count);
  await quiet.caughtUp();
  await quiet.scene.admin.db.script(`
    update chains set start_number = 0, latest_number = 10, latest_hash = '0x${'a'.repeat(64)}' where caip2 = '${caip2}';
    update payments set wake_at = null, wake_frontier = 'latest', wake_number = 1 where account_id = '${account.id}'`);
};
const due = async (): Promise<number> =>
  (await quiet.read<{ due: number }>('select count(*)::int as due from payments where wake_number = 1'))[0]!.due;

test('a fault of what runs beside the next blocks is thrown once, to whoever waits for it', async () => {
  const settings = { log: silentLog, maxConnections: 1, applicationName: 'reached' };
  const db = openDatabase({ connectionString: quiet.scene.config.database!.url }, settings);
  const reached = create({ running: 0 }, { ...quiet.context, db });
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

test('all that is due is advanced, and a stop ends it after the transaction that it is in', async () => {
  await makeDue();
  const reached = create();
  await reached.start();
  expect(reached.isRunning()).toBe(true);
  await reached.stop();
  expect(reached.isRunning()).toBe(false);
  const left = await due();
  expect(left).toBeGreaterThan(0);
  await reached.start();
  await reached.finish();
  expect(await due()).toBe(0);
});

test('where enough chains advance payments beside their blocks, a further one waits for its own', async () => {
  await makeDue();
  const turns = { running: 3 };
  const reached = create(turns);
  await reached.start();
  expect(reached.isRunning()).toBe(false);
  expect(await due()).toBe(0);
  expect(turns).toEqual({ running: 3 });
});
