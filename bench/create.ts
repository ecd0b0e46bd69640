import { call } from './client.ts';
import { cpuSeconds, median, quantile, round } from './figures.ts';
import { requestBytes, runLoad } from './load.ts';
import { runPgbench } from './pgbench.ts';
import type { Scene } from './scene.ts';

const target = 0.6;

const createEndpoint = async (scene: Scene): Promise<string> => {
  const answer = await call(scene, 'POST', '/v1/webhooks', { url: 'https://localhost:1/hook' });
  return answer.id as string;
};

/** Compares creating payments over TLS with pgbench writing the same rows, round by round. */
export const benchCreate = async (scene: Scene, options: { rounds: number; seconds: number }): Promise<boolean> => {
  const endpointId = await createEndpoint(scene);
  const body = JSON.stringify({
    amount: '12.5',
    currency: 'USDC',
    network: 'base',
    metadata: { order: 'x'.repeat(20) },
  });
  const request = requestBytes('POST', '/v1/payments', scene.key, body);
  const load = (seconds: number) =>
    runLoad({ port: scene.sandboxPort, ca: scene.ca, connections: 64, seconds, next: () => request });
  await load(2);
  await runPgbench(scene, endpointId, 2);
  const ratios: number[] = [];
  const rates: number[] = [];
  const limits: number[] = [];
  const latencies: number[] = [];
  const cpuMicros: number[] = [];
  for (let i = 0; i < options.rounds; i++) {
    const limit = await runPgbench(scene, endpointId, options.seconds);
    const before = cpuSeconds([scene.pid]);
    const run = await load(options.seconds);
    const spent = cpuSeconds([scene.pid]) - before;
    if (run.refused > 0) throw new Error(`${run.refused} creations were refused`);
    ratios.push(run.perSecond / limit);
    rates.push(run.perSecond);
    limits.push(limit);
    cpuMicros.push((spent * 1e6) / run.answered);
    latencies.push(...run.latenciesMs);
    console.log(
      `  round ${i + 1}: florin ${round(run.perSecond, 0)}/s, pgbench ${round(limit, 0)}/s, ratio ${round(run.perSecond / limit)}`,
    );
  }
  const ratio = median(ratios);
  console.log(
    `create: ${round(median(rates), 0)}/s over TLS, pgbench ${round(median(limits), 0)}/s, ratio ${round(ratio)} (target ${target}); ` +
      `p50 ${round(median(latencies))} ms, p99 ${round(quantile(latencies, 0.99))} ms, ${round(median(cpuMicros), 0)} µs CPU per request`,
  );
  return ratio >= target;
};
