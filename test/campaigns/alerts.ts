import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { alertCases } from '../metrics/alertCases.ts';
import { findPrometheus, howToGetPrometheus } from '../support/findPrometheus.ts';
import { type Cause, causes } from './alerts/causes.ts';
import { freePort, type PrometheusProcess, startPrometheus } from './alerts/prometheusProcess.ts';
import { type AlertScene, createAlertScene } from './alerts/scene.ts';

const help = `Lets a real Prometheus scrape a real Florin with the alert rules of the tree, causes one trouble after the other, and
waits until each alert has fired. Only the times of the rules are shorter, and the record of the last backup is set back by a
day. It takes about 15 minutes.

  --patience N  seconds to wait for an alert, default 180
  --only A,B    only the causes of these alerts; the first cause starts Florin in any case
  --help`;

const { values } = parseArgs({
  options: {
    patience: { type: 'string', default: '180' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const patienceMs = Number(values.patience) * 1_000;

/** Which of them have not fired in time. */
const missing = async (
  prometheus: PrometheusProcess,
  { alerts, takesSeconds = 0 }: Cause,
  broken: () => boolean,
): Promise<string[]> => {
  const left = new Set(alerts);
  for (
    const endMs = performance.now() + patienceMs + takesSeconds * 1_000;
    left.size > 0 && performance.now() < endMs && !broken();
  ) {
    for (const name of await prometheus.firing()) left.delete(name);
    if (left.size > 0) await pause(500);
  }
  return [...left];
};

/** Returns what went wrong. */
const tryCause = async (cause: Cause, scene: AlertScene, prometheus: PrometheusProcess): Promise<string[]> => {
  const startedMs = performance.now();
  const stopping = new AbortController();
  let fault: unknown = null;
  const begun = cause.begin(scene, stopping.signal).catch((error: unknown) => {
    fault = error;
  });
  const left = await missing(prometheus, cause, () => fault !== null);
  stopping.abort();
  await begun;
  await cause.end?.(scene);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const fired = cause.alerts.filter(name => !left.includes(name));
  console.log(`${cause.what}: ${fired.join(', ') || 'nothing'} fired (${seconds} s)`);
  return [
    ...left.map(name => `${name} did not fire: ${cause.what}`),
    ...(fault === null ? [] : [`${cause.what}: ${fault}`]),
  ];
};

const only = values.only?.split(',');
const chosen = causes.filter(({ alerts }, place) => place === 0 || !only || alerts.some(name => only.includes(name)));

const campaign = async (program: string): Promise<string[]> => {
  const room = await mkdtemp(join(tmpdir(), 'florin-alerts-'));
  // The embedded server drops root's rights and must reach its files.
  await chmod(room, 0o755);
  const metricsPort = await freePort();
  const scene = await createAlertScene(room, metricsPort);
  const prometheus = await startPrometheus(program, room, metricsPort);
  const problems: string[] = [];
  try {
    for (const cause of chosen) problems.push(...(await tryCause(cause, scene, prometheus)));
  } finally {
    await prometheus.stop();
    await scene.end();
    await rm(room, { recursive: true, force: true });
  }
  return problems;
};

const program = findPrometheus('prometheus');
if (values.help) console.log(help);
else if (program === null) {
  console.log(
    `Skipped: there is no Prometheus here. Get it with: ${howToGetPrometheus}   (or set PROMETHEUS_PATH to its folder)`,
  );
} else {
  const problems = await campaign(program);
  const caused = chosen.flatMap(({ alerts }) => alerts);
  const others = alertCases.map(({ alert }) => alert).filter(alert => !caused.includes(alert));
  if (others.length > 0) console.log(`Not caused: ${others.join(', ')}`);
  for (const problem of problems) console.error(problem);
  console.log(problems.length === 0 ? `all ${caused.length} alerts fired` : 'FAILED');
  process.exitCode = problems.length === 0 ? 0 : 1;
}
