import { statfs } from 'node:fs/promises';
import { environments } from '../core/environment.ts';
import { paymentStatuses } from '../core/payment/states.ts';
import { createCachedReading } from '../http/edge/cachedReading.ts';
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
  readonly pools: Readonly<Record<string, Pick<Database, 'poolUse'>>>;
  readonly chains: readonly MeteredChain[];
  readonly dataDir: string;
  readonly backups: () => Promise<BackupRecord>;
  /** Until when the log is archived; null if it is not. */
  readonly logArchivedUntil: () => Promise<Date | null>;
};

/** The answer of the database is used again by scrapes that come soon after. */
const freshMs = 2_000;
const answerTimeoutMs = 3_000;

const chainStatuses = ['operational', 'degraded', 'down'] as const;

/**
 * Chains that this process can reach, and those that another one watches. Of one that is in no table, it is only known that
 * it is down.
 */
const chainFamilies = (chains: readonly MeteredChain[], figures: Figures): Family[] => {
  const measured = new Map(figures.chains.map(chain => [chain.caip2, chain]));
  const unknown = { halted: false, lagSeconds: null, status: 'down' };
  const shown = chains.filter(({ caip2, nodes }) => nodes > 0 || measured.has(caip2));
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

const outboxKinds = ['alert', 'mail'] as const;
/** Farewells to endpoints are alerts to their receivers, and links to set a password are mails. */
const outboxSamples = (parked: Figures['parkedMessages']): Sample[] =>
  outboxKinds.map(kind => ({
    labels: { kind },
    value:
      kind === 'alert' ? (parked.alert ?? 0) + (parked.farewell ?? 0) : (parked.mail ?? 0) + (parked.recovery ?? 0),
  }));

const poolFamilies = (pools: ReadingSources['pools']): Family[] => {
  const used = Object.entries(pools).map(([pool, db]) => ({ pool, ...db.poolUse() }));
  return [
    familyOf(
      'florin_database_connections',
      used.flatMap(({ pool, inUse, idle }) => [
        { labels: { pool, state: 'in_use' }, value: inUse },
        { labels: { pool, state: 'idle' }, value: idle },
      ]),
    ),
    familyOf(
      'florin_database_connections_waiting',
      used.map(({ pool, waiting: value }) => ({ labels: { pool }, value })),
    ),
  ];
};

const backupFamilies = (record: BackupRecord | null): Family[] => {
  const { schedule = null, last = null, failing = null } = record ?? {};
  return [
    gauge('florin_backup_last_success_timestamp_seconds', last && Date.parse(last.backupAt) / 1000),
    gauge('florin_backup_failing', schedule && Number(failing !== null)),
  ];
};

/**
 * What is read when somebody asks: one statement after the other, on one connection. The counts of payments stand alone:
 * with very many accounts they may take too long, and then they alone are left out.
 */
export const createReadings = ({
  db,
  pools,
  chains,
  dataDir,
  backups,
  logArchivedUntil,
}: ReadingSources): (() => Promise<Family[]>) => {
  const cached = <T>(ask: () => Promise<T>) =>
    createCachedReading(ask, { nowMs: monotonicMs, freshMs, answerTimeoutMs });
  const readDatabase = cached(async () => ({
    figures: await readFigures(db),
    due: await readDueDeliveries(db).catch(() => []),
    payments: await countPayments(db).catch(() => null),
  }));
  const readDisk = cached(() => statfs(dataDir));
  const readBackups = cached(backups);
  const readArchive = cached(logArchivedUntil);
  return async () => {
    const [database, disk, backup, archived] = await Promise.all([
      readDatabase(),
      readDisk(),
      readBackups(),
      readArchive(),
    ]);
    const { figures = null, due = [], payments = null } = database ?? {};
    return [
      gauge('florin_database_up', Number(database !== null)),
      ...poolFamilies(pools),
      familyOf('florin_payments', payments === null ? [] : paymentSamples(payments)),
      ...(figures === null ? [] : chainFamilies(chains, figures)),
      ...dueFamilies(due),
      gauge('florin_differences_open', figures?.differences ?? null),
      gauge('florin_unclaimed_funds', figures?.unclaimed ?? null),
      familyOf('florin_outbox_parked', figures === null ? [] : outboxSamples(figures.parkedMessages)),
      gauge('florin_reviews_open', figures?.reviews ?? null),
      gauge('florin_restore_gate_closed', figures === null ? null : Number(figures.isGateClosed)),
      // What the user of this process may still write: a part of the disk is kept for root.
      gauge('florin_data_directory_free_bytes', disk && disk.bavail * disk.bsize),
      gauge('florin_data_directory_size_bytes', disk && disk.blocks * disk.bsize),
      ...backupFamilies(backup),
      gauge('florin_log_archive_timestamp_seconds', archived && archived.getTime() / 1000),
    ];
  };
};
