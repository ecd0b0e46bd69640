import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { callRpc } from '../src/chains/evm/rpc.ts';
import { createMigrated, dropDatabase, serviceOf, superuserOf, withClient } from './benchDatabases.ts';
import { call } from './client.ts';
import { startCountingProxy } from './countingProxy.ts';
import { median, quantile, round } from './figures.ts';
import { paidAmount, paidToken } from './openPayments.ts';
import { runProcess } from './runProcess.ts';
import type { Scene } from './scene.ts';
import { mintData, transferData } from './transferChain.ts';
import type { WatcherDone, WatcherStart } from './watcherProcess.ts';

const targetMs = 300;
/** Requests per second while nothing happens. */
const idleTarget = 2;
/** Pause between two queries for the event. A measured time is at most this and one query too long. */
const lookMs = 1;
const patienceMs = 30_000;
const longestGapMs = 200;
/** By then the empty blocks after a transaction are mined. */
const settleMs = 8_000;
const idleDatabase = 'bench_detect_idle';

const rpcUrlOf = async ({ dataDir }: Scene): Promise<string> => {
  const { port } = JSON.parse(await readFile(join(dataDir, 'devchain.json'), 'utf8')) as { port: number };
  return `http://127.0.0.1:${port}`;
};

const isDetected = async (client: pg.Client, accountId: string, paymentId: string): Promise<boolean> => {
  const { rows } = await client.query({
    name: 'bench-detected',
    text: `select 1 from events where account_id = $1 and environment = 'sandbox' and payment_id = $2 and type = 'payment.detected'`,
    values: [accountId, paymentId],
  });
  return rows.length > 0;
};

/** The time at which the event was visible to others. */
const detectedMs = async (client: pg.Client, accountId: string, paymentId: string): Promise<number> => {
  const endMs = performance.now() + patienceMs;
  while (!(await isDetected(client, accountId, paymentId))) {
    if (performance.now() > endMs) throw new Error(`payment ${paymentId} was not detected`);
    await pause(lookMs);
  }
  return performance.now();
};

/** Pays one payment after another, each at a random moment of the watcher's poll. */
const timeDetections = async (
  scene: Scene,
  rpcUrl: string,
  detections: number,
): Promise<{ mined: number[]; sent: number[] }> => {
  const times = { mined: [] as number[], sent: [] as number[] };
  const [from] = (await callRpc(rpcUrl, 'eth_accounts', [])) as [string];
  const submit = (data: string) =>
    callRpc(rpcUrl, 'eth_sendTransaction', [{ from, to: paidToken, data, gas: '0x186a0' }]);
  await submit(mintData(from, paidAmount * BigInt(detections)));
  await withClient(superuserOf(scene, scene.database.database), async client => {
    for (let i = 0; i < detections; i++) {
      const payment = await call(scene, 'POST', '/v1/payments', { amount: '12.5', currency: 'USDC', network: 'base' });
      await pause(Math.random() * longestGapMs);
      const sentMs = performance.now();
      await submit(transferData(payment.address as string, paidAmount));
      const minedMs = performance.now();
      const seenMs = await detectedMs(client, scene.accountId, payment.id as string);
      times.mined.push(seenMs - minedMs);
      times.sent.push(seenMs - sentMs);
    }
  });
  return times;
};

/** Counts the requests of a second watcher on the same chain while no block is mined. */
const countIdle = async (scene: Scene, rpcUrl: string, seconds: number): Promise<number> => {
  await createMigrated(scene, idleDatabase);
  const proxy = await startCountingProxy(rpcUrl);
  const service = await serviceOf(scene, idleDatabase);
  const start = { dataDir: scene.dataDir, service, rpcUrl: proxy.url };
  const watcher = await runProcess<WatcherStart, WatcherDone>('./watcherProcess.ts', start);
  await pause(settleMs);
  proxy.take();
  await pause(seconds * 1000);
  const { exchanges, calls } = proxy.take();
  await watcher.stop();
  proxy.stop();
  await dropDatabase(scene, idleDatabase);
  const byMethod = [...calls].map(([method, count]) => `${method} ${round(count / seconds)}`).join(', ');
  console.log(
    `detect, idle: ${round(exchanges / seconds)} requests/s over ${seconds} s (target ${idleTarget}), calls/s: ${byMethod}`,
  );
  return exchanges / seconds;
};

/** Time from the block to the committed event in the running service, and requests per second while idle. */
export const benchDetect = async (scene: Scene, options: { detections: number; seconds: number }): Promise<boolean> => {
  const rpcUrl = await rpcUrlOf(scene);
  await timeDetections(scene, rpcUrl, 20);
  const { mined, sent } = await timeDetections(scene, rpcUrl, options.detections);
  const p99 = quantile(mined, 0.99);
  console.log(
    `detect: ${mined.length} payments, block mined → event committed p50 ${round(median(mined))} ms, p99 ${round(p99)} ms (target ${targetMs}), ` +
      `longest ${round(Math.max(...mined))} ms; from sending p50 ${round(median(sent))} ms, p99 ${round(quantile(sent, 0.99))} ms`,
  );
  const idle = await countIdle(scene, rpcUrl, Math.max(20, options.seconds));
  return p99 <= targetMs && idle < idleTarget;
};
