import type { Command } from 'commander';
import { FlorinError } from '../core/errors.ts';
import { forgedOnceAMinute } from '../core/forgedOnceAMinute.ts';
import type { Log } from '../core/log.ts';
import type { Progress } from '../core/progress.ts';
import type { Declaration } from '../engine/chain/restores.ts';
import { type Config, loadConfig } from './config.ts';
import { addConfigOptions } from './configOptions.ts';
import { finishFirstRun, writeFirstRun } from './firstRun.ts';
import type { Florin } from './florin.ts';
import type { Logs } from './log.ts';
import { createStartProgress } from './startProgress.ts';
import { tellSystemd } from './tellSystemd.ts';

/** The URLs, or the roles of a process that does not serve the API. */
export const readyLines = (
  { roles }: Pick<Config, 'roles'>,
  { urls, dashboardUrl, caPath, notices }: Pick<Florin, 'urls' | 'dashboardUrl' | 'caPath' | 'notices'>,
): string[] => {
  const told = notices.flatMap(notice => ['', `  ${notice}`]);
  if (!roles.includes('api')) return ['Florin is ready', `  roles       ${roles.join(', ')}`, ...told];
  return [
    'Florin is ready',
    `  production  ${urls.production}`,
    `  sandbox     ${urls.sandbox}`,
    `  dashboard   ${dashboardUrl}/dashboard`,
    `  reference   ${urls.sandbox}/docs`,
    ...(caPath ? [`  local CA    ${caPath}`] : []),
    ...told,
  ];
};

const announce = async (config: Config, florin: Florin): Promise<void> => {
  const lines = ['', ...readyLines(config, florin)];
  const { firstRun, setupLink } = florin;
  if (process.stdout.isTTY) {
    if (firstRun) lines.push('', `  Your first sandbox key, shown once: ${firstRun.key}`);
    if (setupLink) lines.push('', '  Open this link within one hour to create the owner account:', `  ${setupLink}`);
  } else if (firstRun || setupLink) {
    const what = [...(firstRun ? ['the first sandbox key'] : []), ...(setupLink ? ['the setup link'] : [])];
    lines.push(`  first run   ${await writeFirstRun(config, { firstRun, setupLink })} (${what.join(', ')})`);
  }
  console.log(`${lines.join('\n')}\n`);
  if (firstRun && process.stdout.isTTY) await finishFirstRun(config);
};

/** npm may pass on a Ctrl-C that the terminal also sends, so the signal can arrive twice. */
const sameSignalMs = 500;

const stopOnSignal = (florin: Promise<Florin>, log: Log): Promise<void> =>
  new Promise(resolve => {
    let firstMs: number | null = null;
    const onSignal = (signal: NodeJS.Signals) => {
      if (firstMs !== null) {
        if (performance.now() - firstMs < sameSignalMs) return;
        process.exit(1);
      }
      firstMs = performance.now();
      log.info({ signal }, 'stopping');
      florin.then(
        running => void running.stop().then(resolve),
        () => resolve(),
      );
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });

const isAlone = ({ processes }: Config): boolean => processes === null;

/** Only `start` needs all modules. Without them the other commands start in half the time. */
const start = async (
  config: Config,
  parts: Omit<Logs, 'flush'> & { readonly progress: Progress; readonly restored: Declaration | undefined },
): Promise<Florin> => {
  if (!isAlone(config)) return (await import('./processes/startProcesses.ts')).startProcesses(config, parts);
  const { log, access, progress, restored } = parts;
  return (await import('./florin.ts')).startFlorin(config, log, access, { progress, restored });
};

/** Fails if an upgrade ended without this process. It has then stopped as at a signal: a proxy sends its clients elsewhere. */
const stopIfOutdated = async (florin: Florin): Promise<never> => {
  await florin.outdated;
  await florin.stop();
  throw new FlorinError(
    'conflict',
    'The upgrade of the database to a newer version of Florin is finished, so this process has stopped. Start that version.',
  );
};

/** Fails, so that a service manager starts Florin again. */
const stopIfBroken = async (florin: Florin): Promise<never> => {
  const error = await florin.broken;
  await florin.stop();
  throw error;
};

export const addStartCommand = (program: Command): void => {
  const command = program.command('start').description('Start Florin.');
  addConfigOptions(command)
    .option(
      '--restored',
      'The data directory or the database was restored: do what florin restored does before the first request. For one start only.',
    )
    .action(async ({ restored = false, ...flags }: Record<string, string> & { restored?: boolean }) => {
      const config = await loadConfig({ flags });
      const { createLog } = await import('./log.ts');
      const {
        log: everyLine,
        access,
        write,
        flush,
      } = createLog(config, isAlone(config) ? {} : { process: 'supervisor' });
      const log = forgedOnceAMinute(everyLine, () => performance.now());
      // The reader of the output may be gone. Keep running.
      process.stdout.on('error', () => {});
      const { progress, end } = createStartProgress(log, process.stderr.isTTY ? process.stderr : null);
      try {
        const starting = start(config, { log, access, write, progress, restored: restored ? {} : undefined });
        const stopped = stopOnSignal(starting, log);
        const florin = await starting.finally(end);
        try {
          await announce(config, florin);
          if (config.isAwaited) await tellSystemd(log);
        } catch (error) {
          await florin.stop();
          throw error;
        }
        await Promise.race([stopped, stopIfOutdated(florin), stopIfBroken(florin)]);
        console.log('Florin has stopped');
      } finally {
        await flush();
      }
    });
};
