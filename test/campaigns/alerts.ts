import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { alertCases } from '../metrics/alertCases.ts';
import { findPrometheus, howToGetPrometheus } from '../support/findPrometheus.ts';
import { freePort } from '../support/freePort.ts';
import { type Cause, causes } from './alerts/causes.ts';
import {
  type FiringAlert,
  type PrometheusProcess,
  readRuleNames,
  startPrometheus,
} from './alerts/prometheusProcess.ts';
import { type AlertScene, createAlertScene } from './alerts/scene.ts';

const help = `Lets a real Prometheus scrape a real Florin with the alert rules of the tree, causes one trouble after the other, and
waits until each alert has fired with the right labels. None may fire before its cause, and each rule must have one. Only the
times of the rules are shorter, and the records of backups are set back. It takes about 15 minutes.

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

/** What is wrong with the labels of an alert; null if they are right. */
const labelFault = ({ name, labels }: FiringAlert, target: string, cause: Cause): string | null => {
  const of = alertCases.find(({ alert }) => alert === name)!.labels;
  const general = {
    severity: of.severity!,
    ...('instance' in of && { instance: target }),
    ...('job' in of && { job: 'florin' }),
  };
  const wanted = { ...general, ...cause.labels?.[name] };
  const isRight =
    Object.keys(labels).sort().join() === Object.keys(of).sort().join() &&
    Object.entries(wanted).every(([label, value]) => labels[label] === value);
  return isRight ? null : `${name} has the labels ${JSON.stringify(labels)}: ${cause.what}`;
};

/** Those that fire although nothing has caused them yet. What came before may take a while to end. */
const tooEarly = async (prometheus: PrometheusProcess, { alerts }: Cause): Promise<string[]> => {
  for (const endMs = performance.now() + patienceMs; ; await pause(500)) {
    const early = (await prometheus.firing()).map(({ name }) => name).filter(name => alerts.includes(name));
    if (early.length === 0 || performance.now() > endMs) return [...new Set(early)];
  }
};

/** Which of them have not fired in time, and which have wrong labels. */
const missing = async (
  prometheus: PrometheusProcess,
  cause: Cause,
  broken: () => boolean,
): Promise<{ readonly left: readonly string[]; readonly faults: readonly string[] }> => {
  const { alerts, takesSeconds = 0 } = cause;
  const left = new Set(alerts);
  const faults = new Set<string>();
  for (
    const endMs = performance.now() + patienceMs + takesSeconds * 1_000;
    left.size > 0 && performance.now() < endMs && !broken();
  ) {
    for (const firing of await prometheus.firing()) {
      if (!left.delete(firing.name)) continue;
      const fault = labelFault(firing, prometheus.target, cause);
      if (fault !== null) faults.add(fault);
    }
    if (left.size > 0) await pause(500);
  }
  return { left: [...left], faults: [...faults] };
};

/** Returns what went wrong. */
const tryCause = async (cause: Cause, scene: AlertScene, prometheus: PrometheusProcess): Promise<string[]> => {
  const early = await tooEarly(prometheus, cause);
  const startedMs = performance.now();
  const stopping = new AbortController();
  let fault: unknown = null;
  const begun = cause.begin(scene, stopping.signal).catch((error: unknown) => {
    fault = error;
  });
  const { left, faults } = await missing(prometheus, cause, () => fault !== null);
  stopping.abort();
  await begun;
  await cause.end?.(scene);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const fired = cause.alerts.filter(name => !left.includes(name));
  console.log(`${cause.what}: ${fired.join(', ') || 'nothing'} fired (${seconds} s)`);
  return [
    ...early.map(name => `${name} fired before its cause: ${cause.what}`),
    ...faults,
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

/** Rules of the tree that nothing here makes fire. */
const uncaused = async (): Promise<string[]> => {
  const caused = new Set(causes.flatMap(({ alerts }) => alerts));
  return (await readRuleNames()).filter(name => !caused.has(name)).map(name => `${name} has no cause`);
};

const program = findPrometheus('prometheus');
if (values.help) console.log(help);
else if (program === null) {
  console.log(
    `Skipped: there is no Prometheus here. Get it with: ${howToGetPrometheus}   (or set PROMETHEUS_PATH to its folder)`,
  );
} else {
  const caused = chosen.flatMap(({ alerts }) => alerts);
  const problems = [...(await uncaused()), ...(await campaign(program))];
  for (const problem of problems) console.error(problem);
  console.log(problems.length === 0 ? `all ${caused.length} alerts fired` : 'FAILED');
  process.exitCode = problems.length === 0 ? 0 : 1;
}
