import { access } from 'node:fs/promises';
import type { AdminContext } from '../engine/access/accounts.ts';
import { dashboardUrlFaults } from '../engine/access/dashboardUrl.ts';
import { readGate } from '../engine/chain/restoreGate.ts';
import {
  type Verified,
  verifyAuditLogs,
  verifyCorrections,
  verifyWalletHistory,
  verifyWallets,
} from '../engine/chain/verifyRecords.ts';
import { areRowsSealed } from '../engine/seals/sealOlderRows.ts';
import { verifySeals } from '../engine/seals/verifySeals.ts';
import { indexFaults } from '../engine/settlement/indexFaults.ts';
import { askRedis } from '../limits/redisBuckets.ts';
import type { RedisServer } from '../limits/redisUrl.ts';
import { readMigrationState } from '../storage/appliedMigrations.ts';
import { hasRegisteredAct } from '../storage/audit/register.ts';
import { allChains, type ChainRow } from '../storage/chain/chains.ts';
import { listOpenReviews } from '../storage/chain/restoreReviews.ts';
import type { Database } from '../storage/database.ts';
import {
  countFaults,
  deliveryFaults,
  historyFaults,
  orphanFaults,
  passkeyFaults,
  transferFaults,
} from '../storage/integrity.ts';
import { countParkedOutgoing } from '../storage/outbox.ts';
import { listDifferences } from '../storage/settlement/differences.ts';
import { ledgerFaults } from '../storage/settlement/ledger.ts';
import { allReconciliations, countSuspected } from '../storage/settlement/reconciliation.ts';
import type { Vault } from '../vault/vault.ts';
import { keepAuditHeads } from './auditHeadsFile.ts';
import { type Comparison, compareReadChains } from './compareWithChains.ts';
import type { Config } from './config.ts';
import { keepPersonRevisions } from './personRevisionsFile.ts';
import { bucketKeysOf } from './startLimits.ts';

/** What a check found, for people. */
export type Told = { readonly ok: boolean; readonly detail: string };

const shownDifferences = 1_000;

/** `left`: what could not be looked at, and why. Said where all else is right: problems come first. */
type Examined = Verified & { readonly left?: string | null };

export const verified = ({ checked, problems, left = null }: Examined, what: string): Told => ({
  ok: problems.length === 0,
  detail:
    problems.length === 0
      ? [`${checked} ${what} verified`, left].filter(part => part !== null).join('; ')
      : problems.join('; '),
});

const hasDirectory = ({ dataDir }: Config): Promise<boolean> =>
  access(dataDir).then(
    () => true,
    () => false,
  );

/** Compares the logs with the ends stored in the data directory, if there is one, and says so if there is not. */
export const examineAuditLogs = async (config: Config, admin: AdminContext): Promise<Examined> => {
  const { checked, problems } = await verifyAuditLogs(admin);
  // The end of a log with problems must not be stored.
  if (problems.length > 0) return { checked, problems };
  const kept = (await hasDirectory(config)) ? await keepAuditHeads(config, admin) : null;
  const left = kept?.isCompared ? null : 'not compared with earlier ends: none are known here';
  return { checked, problems: kept?.problems ?? [], left };
};

/** Takes one token from the Redis of REDIS_URL, as a request does. */
export const examineLimits = async (redis: RedisServer, vault: Vault): Promise<Told> => {
  const problem = await askRedis(redis, bucketKeysOf(vault));
  return problem === null
    ? { ok: true, detail: 'Redis answers' }
    : { ok: false, detail: `Redis does not answer (${problem}): each process counts alone. Check REDIS_URL` };
};

/** The seal of every row, and what a seal cannot show about people. */
export const examineSeals = async (config: Config, admin: AdminContext): Promise<Examined> => {
  const isMarked = await areRowsSealed(admin);
  if (!isMarked && !(await hasRegisteredAct(admin.db))) {
    return { checked: 0, problems: ['the rows of this database are not sealed yet: start Florin'] };
  }
  const unmarked = isMarked ? [] : ['the database does not say that its rows are sealed: start Florin'];
  const { checked, problems } = await verifySeals(admin);
  const people = (await hasDirectory(config)) ? await keepPersonRevisions(config, admin) : null;
  const missing = [...(await passkeyFaults(admin.db)), ...(await verifyCorrections(admin))];
  return {
    checked,
    problems: [...unmarked, ...problems, ...(await dashboardUrlFaults(admin)), ...missing, ...(people?.problems ?? [])],
    left: people?.isCompared ? null : 'people not compared with earlier rows: none are known here',
  };
};

export const examineWallets = async (admin: AdminContext): Promise<Verified> => {
  const { checked, problems } = await verifyWallets(admin);
  return { checked, problems: [...problems, ...(await verifyWalletHistory(admin))] };
};

/** A round takes hours with millions of addresses, and a new one starts every hour. */
const longestRoundHours = 48;

/** What is wrong with the comparison of forwarders on chains that are read now. */
const roundProblems = async (db: Database): Promise<string[]> => {
  const rounds = new Map((await allReconciliations(db)).map(round => [round.caip2, round]));
  const isRead = ({ leaseUntil }: ChainRow): boolean => leaseUntil !== null && leaseUntil.getTime() > Date.now();
  return (await allChains(db)).filter(isRead).flatMap(({ caip2 }) => {
    const round = rounds.get(caip2);
    const isLate = (round?.ageSeconds ?? 0) > longestRoundHours * 3_600;
    return isLate ? [`the comparison of addresses on ${caip2} takes more than ${longestRoundHours} hours`] : [];
  });
};

const chainsText = ({ chains, skipped }: Comparison): string => {
  const sum = chains.reduce((total, { compared }) => total + compared, 0);
  const text = `${sum} addresses on ${chains.length} chains were compared with the chain`;
  return skipped.length === 0 ? text : `${text}, and ${skipped.join(', ')} not, because nothing reads it now`;
};

/** Compares the whole ledger with the transfers that it is derived from. */
export const examineFacts = async (db: Database): Promise<Told> => {
  const problems = (await ledgerFaults(db)).map(
    ({ accountId, environment, caip2, contract, source, destination, posted, facts }) =>
      `${accountId} ${environment} ${caip2} ${contract ?? 'native coin'}: ${source} to ${destination} is ${posted}, and its facts add up to ${facts}`,
  );
  return problems.length === 0 ? { ok: true, detail: 'equals its facts' } : { ok: false, detail: problems.join('; ') };
};

/** Open differences between addresses and the records. With `deep`, every forwarder is compared with its chain first. */
export const examineLedger = async (db: Database, isDeep: boolean): Promise<Told> => {
  const comparison = isDeep ? await compareReadChains(db) : null;
  const open = (await listDifferences(db, shownDifferences)).length;
  const count = open === shownDifferences ? `${open} or more` : `${open}`;
  const waiting = isDeep ? await countSuspected(db) : 0;
  const problems = [
    ...(open === 0 ? [] : [`open differences: ${count}. Run florin ledger differences`]),
    ...(waiting === 0 ? [] : [`differences that wait until their block is final: ${waiting}`]),
    ...(isDeep ? await roundProblems(db) : []),
  ];
  if (problems.length > 0) return { ok: false, detail: problems.join('; ') };
  if (comparison === null) return { ok: true, detail: 'no difference is open' };
  return { ok: true, detail: `no difference is open; ${chainsText(comparison)}` };
};

/** What only reading every row shows: rows that were removed, and counts and marks that were changed. */
export const examineRecords = async (db: Database): Promise<Told> => {
  const problems = [
    ...(await orphanFaults(db)),
    ...(await countFaults(db)),
    ...(await historyFaults(db)),
    ...(await deliveryFaults(db)),
    ...(await transferFaults(db)),
    ...(await indexFaults(db)),
  ];
  return problems.length === 0
    ? { ok: true, detail: 'nothing is missing' }
    : { ok: false, detail: problems.join('; ') };
};

export const checkMigrations = async (db: Database): Promise<Told> => {
  const { pending, unfinished } = await readMigrationState(db);
  const waiting =
    'up to date, and the upgrade is not finished: run florin migrate --finish when no older process is needed';
  return pending === 0
    ? { ok: true, detail: unfinished === 0 ? 'up to date' : waiting }
    : { ok: false, detail: `${pending} are missing: run florin migrate, or start Florin` };
};

const shownReviews = 100;

/** What waits for the operator or for owners after a restore. */
export const examineRestores = async ({ db, vault }: Pick<AdminContext, 'db' | 'vault'>): Promise<Told> => {
  const gate =
    (await readGate({ db, vault })).state === 'open' ? [] : ['the database was restored or moved: run florin restored'];
  const open = (await listOpenReviews(db, shownReviews)).map(({ accountId, accountName, restoredAt, hasOwner }) => {
    const what = `production of ${accountId} (${accountName}) is closed since the restore at ${restoredAt.toISOString()}`;
    const next = hasOwner ? 'an owner reviews it in the dashboard' : `run florin restored --review ${accountId}`;
    return `${what}: ${next}`;
  });
  const problems = [...gate, ...open];
  return problems.length === 0 ? { ok: true, detail: 'nothing waits' } : { ok: false, detail: problems.join('; ') };
};

/** What was given up. Its content is encrypted and stays so. */
export const examineOutbox = async (db: Database): Promise<Told> => {
  const parked = await countParkedOutgoing(db);
  if (parked.length === 0) return { ok: true, detail: 'nothing was given up' };
  const counts = parked.map(({ kind, total, latest }) => `${total} × ${kind}, the latest at ${latest.toISOString()}`);
  return { ok: false, detail: `given up in the last 30 days: ${counts.join('; ')}. The log has the reasons` };
};
