import { call } from './client.ts';
import { cpuSeconds, median, quantile, round } from './figures.ts';
import { requestBytes, runLoad } from './load.ts';
import type { Scene } from './scene.ts';
import { startBare } from './startBare.ts';

const target = 0.4;
const payments = 500;

/** Compares reading payments over TLS with a bare server that sends the same bytes, round by round. */
export const benchGet = async (scene: Scene, options: { rounds: number; seconds: number }): Promise<boolean> => {
  const requests: Buffer[] = [];
  let body = '';
  for (let i = 0; i < payments; i++) {
    const payment = await call(scene, 'POST', '/v1/payments', { amount: '12.5', currency: 'USDC', network: 'base' });
    requests.push(requestBytes('GET', `/v1/payments/${payment.id}`, scene.key));
    body = JSON.stringify(payment);
  }
  const bare = await startBare(scene, body);
  let turn = 0;
  const next = (): Buffer => requests[turn++ % payments]!;
  const load = (port: number, seconds: number) => runLoad({ port, ca: scene.ca, connections: 64, seconds, next });
  await load(scene.sandboxPort, 2);
  await load(bare.port, 2);
  const ratios: number[] = [];
  const rates: number[] = [];
  const limits: number[] = [];
  const latencies: number[] = [];
  const cpuMicros: number[] = [];
  for (let i = 0; i < options.rounds; i++) {
    const limit = await load(bare.port, options.seconds);
    const before = cpuSeconds([scene.pid]);
    const run = await load(scene.sandboxPort, options.seconds);
    const spent = cpuSeconds([scene.pid]) - before;
    if (run.refused + limit.refused > 0) throw new Error(`${run.refused + limit.refused} reads were refused`);
    ratios.push(run.perSecond / limit.perSecond);
    rates.push(run.perSecond);
    limits.push(limit.perSecond);
    cpuMicros.push((spent * 1e6) / run.answered);
    latencies.push(...run.latenciesMs);
    console.log(
      `  round ${i + 1}: florin ${round(run.perSecond, 0)}/s, bare ${round(limit.perSecond, 0)}/s, ratio ${round(run.perSecond / limit.perSecond)}`,
    );
  }
  bare.stop();
  const ratio = median(ratios);
  console.log(
    `get: ${round(median(rates), 0)}/s over TLS, bare node:https ${round(median(limits), 0)}/s, ratio ${round(ratio)} (target ${target}); ` +
      `p50 ${round(median(latencies))} ms, p99 ${round(quantile(latencies, 0.99))} ms, ${round(median(cpuMicros), 0)} µs CPU per request`,
  );
  return ratio >= target;
};
