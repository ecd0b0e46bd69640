import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../support/freePort.ts';
import { within } from '../chaos/florinProcess.ts';

const rulesPath = new URL('../../../deploy/prometheus/alerts.yaml', import.meta.url);

/** How far back the rules look here, so that nobody waits for hours. Thresholds stay as they are. */
const shorter: Readonly<Record<string, string>> = { '5m': '20s', '15m': '300s', '1h': '60s' };

/** The rules with short times. Each range must have a shorter one. */
export const hurried = (rules: string): string =>
  rules
    .replaceAll(/^( +for:) \w+$/gm, '$1 1s')
    .replaceAll(/(\[| offset )(\d+[mh])\b/g, (_, before: string, range: string) => {
      const short = shorter[range];
      if (short === undefined) throw new Error(`no shorter time is known for ${range}`);
      return `${before}${short}`;
    });

const namesIn = (rules: string): string[] => [...rules.matchAll(/^ *- alert: (\w+)$/gm)].map(([, name]) => name!);
/** The names of all rules of the tree. */
export const readRuleNames = async (): Promise<string[]> => namesIn(await readFile(rulesPath, 'utf8'));

export type FiringAlert = { readonly name: string; readonly labels: Readonly<Record<string, string>> };

export type PrometheusProcess = {
  /** The alerts that fire now, with their labels. */
  firing(): Promise<readonly FiringAlert[]>;
  /** The instance that is scraped. */
  readonly target: string;
  stop(): Promise<void>;
};

type Alerts = {
  readonly data: {
    readonly alerts: readonly { readonly state: string; readonly labels: Readonly<Record<string, string>> }[];
  };
};

/** A Prometheus that scrapes one Florin every second, with the rules of the tree. */
export const startPrometheus = async (
  program: string,
  room: string,
  florinPort: number,
): Promise<PrometheusProcess> => {
  const folder = join(room, 'prometheus');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'alerts.yaml'), hurried(await readFile(rulesPath, 'utf8')));
  const target = `127.0.0.1:${florinPort}`;
  const settings = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yaml'],
    scrape_configs: [{ job_name: 'florin', static_configs: [{ targets: [target] }] }],
  };
  // JSON is YAML, too.
  const config = join(folder, 'prometheus.json');
  await writeFile(config, JSON.stringify(settings));
  const port = await freePort();
  const flags = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ];
  const child = spawn(program, flags, { stdio: ['ignore', 'inherit', 'inherit'] });
  // A campaign that is ended from outside takes it along.
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  const exited = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => resolve());
  }).finally(() => process.off('exit', end));
  return {
    target,
    async firing() {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`).catch(() => null);
      if (!answer?.ok) return [];
      const { alerts } = ((await answer.json()) as Alerts).data;
      return alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels: { alertname, ...labels } }) => ({ name: alertname!, labels }));
    },
    async stop() {
      child.kill('SIGTERM');
      if (
        (await within(
          exited.then(() => true),
          20_000,
        )) === null
      )
        child.kill('SIGKILL');
    },
  };
};
