import { statfs } from 'node:fs/promises';
import { environments } from '../core/environment.ts';
import { paymentStatuses } from '../core/payment/states.ts';
import { createCachedReading } from '../http/edge/cachedReading.ts';
import { createCounters } from '../metrics/counters.ts';
import type { Family, Sample } from '../metrics/exposition.ts';
import type { MeteredChain } from '../metrics/metrics.ts';
import { familyOf, gauge } from '../metrics/metricTable.ts';
import type { Database } from '../storage/database.ts';
import {
  countPayments,
  type DueDeliveries,
  type Figures,
  type PaymentCount,
  readDueDeliveries,
  readFigures,
} from '../storage/figures.ts';
import type { BackupRecord } from './backupRecord.ts';
import { monotonicMs } from './compose.ts';

/** Where the readings come from. */
export type ReadingSources = {
  /** Connections of its own: the figures matter most when all others are in use. */
  readonly db: Database;
  readonly chains: readonly MeteredChain[];
  readonly dataDir: string;
  readonly backups: () => Promise<BackupRecord>;
  /** Null if the log is not archived. Until when it is, and how much of it may be lost. */
  readonly logArchive: () => Promise<{ readonly until: Date | null; readonly seconds: number } | null>;
};

/** A database that takes longer for nothing is not up. */
const pingTimeoutMs = 1_000;
const pingStatement = { name: '', text: 'select 1' };

/** The answer of the database is used again by scrapes that come soon after. */
const freshMs = 2_000;
const answerTimeoutMs = 3_000;

const chainStatuses = ['operational', 'degraded', 'down'] as const;

/** After this time, nobody reads a chain that this process has no nodes for: it is no longer configured anywhere. */
const forgottenSeconds = 3_600;

/**
 * Chains that this process can reach, and those that another one watches. Of one that is in no table, it is only known that
 * it is down.
 */
const chainFamilies = (chains: readonly MeteredChain[], figures: Figures): Family[] => {
  const measured = new Map(figures.chains.map(chain => [chain.caip2, chain]));
  const unknown = { halted: false, lagSeconds: null, status: 'down' };
  const shown = chains.filter(
    ({ caip2, nodes }) => nodes > 0 || (measured.get(caip2)?.ageSeconds ?? Number.POSITIVE_INFINITY) < forgottenSeconds,
  );
  const all = shown.map(({ caip2, network }) => ({
    labels: { chain: caip2, network },
    ...(measured.get(caip2) ?? unknown),
  }));
  const statusOf = (status: string): string => (status === 'maintenance' ? 'down' : status);
  return [
    familyOf(
      'florin_chain_status',
      all.flatMap(({ labels, status }) =>
        chainStatuses.map(each => ({ labels: { ...labels, status: each }, value: Number(statusOf(status) === each) })),
      ),
    ),
    familyOf(
      'florin_chain_lag_seconds',
      all.flatMap(({ labels, lagSeconds }) => (lagSeconds === null ? [] : [{ labels, value: lagSeconds }])),
    ),
    familyOf(
      'florin_chain_halted',
      all.map(({ labels, halted }) => ({ labels, value: Number(halted) })),
    ),
  ];
};

/** Each status has a series from the first on, so that a board shows zero and not nothing. */
const paymentSamples = (counts: readonly PaymentCount[]): Sample[] => {
  const known = new Map(counts.map(({ environment, status, count }) => [`${environment} ${status}`, count]));
  return environments.flatMap(environment =>
    paymentStatuses.map(status => ({
      labels: { environment, status },
      value: known.get(`${environment} ${status}`) ?? 0,
    })),
  );
};

const dueFamilies = (due: readonly DueDeliveries[]): Family[] => [
  familyOf(
    'florin_deliveries_due',
    due.map(({ kind, due: value }) => ({ labels: { attempt: kind }, value })),
  ),
  familyOf(
    'florin_deliveries_oldest_due_seconds',
    due.map(({ kind, oldestSeconds: value }) => ({ labels: { attempt: kind }, value })),
  ),
];

/** Farewells to endpoints are alerts to their receivers, and links to set a password are mails. */
const outboxKinds = { alert: ['alert', 'farewell'], mail: ['mail', 'minor_mail', 'recovery'] };
const outboxFamilies = (parked: Figures['parkedMessages']): Family[] => {
  const kinds = Object.entries(outboxKinds).map(([kind, of]) => ({
    labels: { kind },
    found: of.flatMap(each => parked[each] ?? []),
  }));
  return [
    familyOf(
      'florin_outbox_parked',
      kinds.map(({ labels, found }) => ({ labels, value: found.reduce((sum, { total }) => sum + total, 0) })),
    ),
    familyOf(
      'florin_outbox_parked_latest_timestamp_seconds',
      kinds.flatMap(({ labels, found }) =>
        found.length === 0 ? [] : [{ labels, value: Math.max(...found.map(({ at }) => at)) }],
      ),
    ),
  ];
};

const backupFamilies = (record: BackupRecord | null): Family[] => {
  const { schedule = null, last = null, failing = null } = record ?? {};
  return [
    gauge('florin_backup_interval_seconds', schedule && schedule.hours * 3_600),
    gauge('florin_backup_last_success_timestamp_seconds', schedule && last && Date.parse(last.backupAt) / 1000),
    gauge('florin_backup_failing', schedule && Number(failing !== null)),
  ];
};

const readingNames = ['up', 'figures', 'deliveries', 'payments', 'disk', 'backups', 'log_archive'] as const;
type ReadingName = (typeof readingNames)[number];

/** Counts what fails, so that what is left out of an answer shows. */
const createFailures = () => {
  const failed = createCounters();
  for (const reading of readingNames) failed.start(reading, { reading });
  return {
    async counted<T>(reading: ReadingName, asked: Promise<T>): Promise<T | null> {
      try {
        return await asked;
      } catch {
        failed.add(reading, { reading });
        return null;
      }
    },
    samples: failed.samples,
  };
};

/**
 * What is read when somebody asks: one statement after the other, on one connection, and whether the database answers at
 * all on another. The counts of payments stand alone: with very many accounts they may take too long, and then they alone
 * are left out.
 */
export const createReadings = ({
  db,
  chains,
  dataDir,
  backups,
  logArchive,
}: ReadingSources): (() => Promise<Family[]>) => {
  const { counted, samples: failures } = createFailures();
  const cached = <T>(ask: () => Promise<T | null>, timeoutMs = answerTimeoutMs) =>
    createCachedReading(ask, { nowMs: monotonicMs, freshMs, answerTimeoutMs: timeoutMs });
  const ping = cached(() => counted('up', db.query(pingStatement)), pingTimeoutMs);
  const readDatabase = cached(async () => ({
    figures: await counted('figures', readFigures(db)),
    due: (await counted('deliveries', readDueDeliveries(db))) ?? [],
    payments: await counted('payments', countPayments(db)),
  }));
  const readDisk = cached(() => counted('disk', statfs(dataDir)));
  const readBackups = cached(() => counted('backups', backups()));
  const readArchive = cached(() => counted('log_archive', logArchive()));
  return async () => {
    const [up, database, disk, backup, archive] = await Promise.all([
      ping(),
      readDatabase(),
      readDisk(),
      readBackups(),
      readArchive(),
    ]);
    const { figures = null, due = [], payments = null } = database ?? {};
    return [
      gauge('florin_database_up', Number(up !== null)),
      familyOf('florin_readings_failed_total', failures()),
      familyOf('florin_payments', payments === null ? [] : paymentSamples(payments)),
      ...(figures === null ? [] : chainFamilies(chains, figures)),
      ...dueFamilies(due),
      gauge('florin_differences_open', figures?.differences ?? null),
      gauge('florin_unclaimed_funds', figures?.unclaimed ?? null),
      gauge('florin_unclaimed_funds_latest_timestamp_seconds', figures?.unclaimedAt ?? null),
      ...(figures === null ? [] : outboxFamilies(figures.parkedMessages)),
      gauge('florin_reviews_open', figures?.reviews ?? null),
      gauge('florin_restore_gate_closed', figures === null ? null : Number(figures.isGateClosed)),
      // What the user of this process may still write: a part of the disk is kept for root.
      gauge('florin_data_directory_free_bytes', disk && disk.bavail * disk.bsize),
      gauge('florin_data_directory_size_bytes', disk && disk.blocks * disk.bsize),
      ...backupFamilies(backup),
      gauge('florin_log_archive_timestamp_seconds', archive?.until ? archive.until.getTime() / 1000 : null),
      gauge('florin_log_archive_interval_seconds', archive?.seconds ?? null),
    ];
  };
};
