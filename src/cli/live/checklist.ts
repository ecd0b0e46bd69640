import type { Config } from '../config.ts';
import type { Told } from '../doctorChecks.ts';
import { checkFactory, checkNetworks, checkWallet } from './networkChecks.ts';
import {
  checkAlerts,
  checkBackups,
  checkDatabase,
  checkMail,
  checkMasterKey,
  checkPayment,
  checkStep,
} from './serviceChecks.ts';
import { checkAnswers, checkCertificate, checkMetrics, checkNames } from './siteChecks.ts';
import { inSituation, type LiveOptions, type Situation } from './situation.ts';

type Item = { readonly name: string; readonly check: (situation: Situation) => Promise<Told> };

/** The steps of docs/deploying.md, by number and name. */
export const checklist: readonly Item[] = [
  { name: 'names', check: checkNames },
  { name: 'certificate', check: checkCertificate },
  { name: 'database', check: checkDatabase },
  { name: 'public-addresses', check: checkAnswers },
  { name: 'networks', check: checkNetworks },
  { name: 'factory', check: checkFactory },
  { name: 'master-key', check: checkMasterKey },
  { name: 'backups', check: checkBackups },
  { name: 'alerts', check: checkAlerts },
  { name: 'metrics', check: checkMetrics },
  { name: 'mail', check: checkMail },
  { name: 'owner', check: checkStep('secondFactor') },
  { name: 'wallet', check: checkWallet },
  { name: 'live-key', check: checkStep('liveKey') },
  { name: 'webhook', check: checkStep('webhook') },
  { name: 'first-payment', check: checkPayment },
];

export type LiveFinding = Told & {
  readonly number: number;
  readonly check: string;
  /** The operator takes it as it is. It counts as no problem. */
  readonly accepted: boolean;
};

/** Every item is checked, whatever became of those before it. */
export const examineLive = (
  config: Config,
  options: LiveOptions & { readonly accept: readonly string[] },
  sentenceOf: (error: unknown) => string,
): Promise<LiveFinding[]> =>
  inSituation(config, options, sentenceOf, situation =>
    Promise.all(
      checklist.map(async ({ name, check }, at) => {
        const told = await check(situation);
        return { number: at + 1, check: name, ...told, accepted: !told.ok && options.accept.includes(name) };
      }),
    ),
  );

export const liveLine = ({ number, check, ok, accepted, detail }: LiveFinding): string => {
  const verdict = ok ? 'ok' : accepted ? 'accepted' : 'NOT OK';
  return `${verdict.padEnd(8)} ${String(number).padStart(2)} ${check}: ${detail}`;
};
