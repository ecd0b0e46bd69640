import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPrometheus } from '../support/findPrometheus.ts';
import { startTestFlorin } from '../support/florin.ts';
import { type AlertCase, alertCases, healthySeries, silentCases } from './alertCases.ts';
import { askMetrics } from './scrape.ts';

const needed = { tags: ['promtool'] };
const run = promisify(execFile);
const pathOf = (file: string): string => fileURLToPath(new URL(`../../deploy/prometheus/${file}`, import.meta.url));
let room: string;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), 'florin-rules-'));
});
afterAll(() => rm(room, { recursive: true }));

const promtool = (...args: string[]) => run(findPrometheus('promtool')!, args);

const seriesOf = (series: Readonly<Record<string, string>>): object[] =>
  Object.entries(series).map(([name, values]) => ({ series: name, values }));

const firing = ({ alert, series, atMinutes, labels, summary }: AlertCase): object => ({
  name: alert,
  interval: '1m',
  input_series: seriesOf(series),
  alert_rule_test: [
    {
      eval_time: `${atMinutes}m`,
      alertname: alert,
      exp_alerts: [
        { exp_labels: labels, exp_annotations: { summary, runbook: `docs/metrics.md#${alert.toLowerCase()}` } },
      ],
    },
  ],
});

/** JSON is YAML, which promtool reads. */
const testRules = async (tests: readonly object[]): Promise<void> => {
  const file = join(room, 'cases.json');
  await writeFile(file, JSON.stringify({ rule_files: [pathOf('alerts.yaml')], evaluation_interval: '1m', tests }));
  await promtool('test', 'rules', file);
};

test('the rules are well-formed, and so is the example of a scrape configuration', needed, async () => {
  await promtool('check', 'rules', '--lint-fatal', pathOf('alerts.yaml'));
  for (const file of ['scrape.yaml', 'alerts.yaml']) await copyFile(pathOf(file), join(room, file));
  await promtool('check', 'config', '--lint-fatal', join(room, 'scrape.yaml'));
});

test('each alert fires when it should', needed, () => testRules(alertCases.map(firing)));

test('each alert ends when it should', needed, () =>
  testRules(
    silentCases.map(({ alert, series, atMinutes }) => ({
      interval: '1m',
      input_series: seriesOf(series),
      alert_rule_test: [{ eval_time: `${atMinutes}m`, alertname: alert, exp_alerts: [] }],
    })),
  ),
);

test('no alert fires while all is well', needed, () =>
  testRules([
    {
      interval: '1m',
      input_series: seriesOf(healthySeries),
      alert_rule_test: alertCases.flatMap(({ alert }) =>
        [5, 40, 180].map(minutes => ({ eval_time: `${minutes}m`, alertname: alert, exp_alerts: [] })),
      ),
    },
  ]),
);

test('a case that does not hold is noticed', needed, async () => {
  const wrong = { ...alertCases[0]!, summary: 'Something else.' };
  await expect(testRules([firing(wrong)])).rejects.toThrow();
});

test('what Florin answers passes the check of Prometheus', needed, async () => {
  const scene = await startTestFlorin({ env: { FLORIN_METRICS_PORT: '0' } });
  await scene.client.call('GET', '/healthz');
  const { text } = await askMetrics(scene.florin);
  const checking = run(findPrometheus('promtool')!, ['check', 'metrics']);
  checking.child.stdin!.end(text);
  expect((await checking).stderr).toBe('');
});
