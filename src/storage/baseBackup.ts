import pg from 'pg';
import { FlorinError } from '../core/errors.ts';
import { formatSegment, parseSegment } from '../core/logSegment.ts';
import type { ConnectionSettings } from './connect.ts';
import { archiveSlotText } from './logArchive.ts';

export type BaseBackupEnd = {
  readonly label: string;
  readonly segments: readonly string[];
  readonly endedAt: Date;
  /** The replication slot that has kept the log for the archive since before the backup; null if there is none. */
  readonly archiveSlot: string | null;
};

export type BaseBackup = {
  /** The clock of the database. The backup contains everything that was committed before. */
  readonly startedAt: Date;
  readonly majorVersion: number;
  /** Null before the first start has ended. */
  readonly masterKeyFingerprint: string | null;
  /** Ends the backup. Until `close`, the server keeps the named segments of its log. */
  finish(): Promise<BaseBackupEnd>;
  /** Without `finish`, the backup is given up. */
  close(): Promise<void>;
};

const answerTimeoutMs = 60_000;
/** A checkpoint writes what memory holds to disk. */
const checkpointTimeoutMs = 1_800_000;
/** Names the lock that lets one backup run at a time. */
const lockKey = 7_231_902_118;

const lost = (): FlorinError =>
  new FlorinError('service_unavailable', 'The database ended during the backup. Nothing was kept; try again.');

const factsText = `select clock_timestamp() as "startedAt", current_setting('server_version_num')::int / 10000 as version,
  pg_try_advisory_lock($1) as "isAlone",
  (select value from deployment where name = 'master_key_fingerprint') as fingerprint,
  (${archiveSlotText}) as "archiveSlot",
  (select count(*)::int from pg_tablespace where spcname not in ('pg_default', 'pg_global')) as tablespaces`;

const slotText = 'select pg_create_physical_replication_slot($1, true, true)';
const startText = 'select pg_backup_start($1, true)';
const stopText = 'select lsn::text as lsn, labelfile as label from pg_backup_stop(false)';
const segmentsText = `select pg_walfile_name($1::pg_lsn) as last, clock_timestamp() as "endedAt",
  pg_size_bytes(current_setting('wal_segment_size'))::float8 as bytes, (${archiveSlotText}) as "archiveSlot"`;

/** The segment in which the backup began, from the label that the server wrote. */
const firstSegmentOf = (label: string): string => {
  const file = /^START WAL LOCATION: [0-9A-F/]+ \(file ([0-9A-F]{24})\)$/m.exec(label)?.[1];
  if (file === undefined) throw new Error('PostgreSQL wrote a label without its start.');
  return file;
};

const segmentsBetween = (first: string, last: string, bytes: number): string[] => {
  const [from, to] = [parseSegment(first, bytes)!, parseSegment(last, bytes)!];
  return Array.from({ length: to.number - from.number + 1 }, (_, at) =>
    formatSegment({ timeline: from.timeline, number: from.number + at }, bytes),
  );
};

type Facts = {
  startedAt: Date;
  version: number;
  isAlone: boolean;
  fingerprint: string | null;
  archiveSlot: string | null;
  tablespaces: number;
};
type End = { last: string; bytes: number; endedAt: Date; archiveSlot: string | null };

const refuse = ({ isAlone, tablespaces }: Facts): void => {
  if (!isAlone) throw new FlorinError('conflict', 'Another backup of this database is running.');
  if (tablespaces > 0) {
    throw new FlorinError(
      'conflict',
      'The database has tablespaces outside of its directory. Florin cannot back them up.',
    );
  }
};

/**
 * Begins a backup of a running cluster, for a caller that copies its files: the low-level functions of PostgreSQL. All of
 * it belongs to this one connection: if the process dies, the server gives the backup up and lets the kept log go.
 */
export const startBaseBackup = async (superuser: ConnectionSettings): Promise<BaseBackup> => {
  const client = new pg.Client({
    ...superuser,
    application_name: 'florin backup',
    keepAlive: true,
    connectionTimeoutMillis: answerTimeoutMs,
  });
  let isLost = false;
  client.on('error', () => {
    isLost = true;
  });
  const ask = async <R extends object>(
    text: string,
    values: readonly unknown[],
    timeoutMs = answerTimeoutMs,
  ): Promise<R> => {
    if (isLost) throw lost();
    const { rows } = await client.query<R>({ text, values: [...values], query_timeout: timeoutMs } as pg.QueryConfig);
    return rows[0]!;
  };
  const close = async (): Promise<void> => {
    await client.end().catch(() => undefined);
  };
  await client.connect();
  try {
    const facts = await ask<Facts>(factsText, [lockKey]);
    refuse(facts);
    // It ends with the connection. Without it, the server would remove its log while the files are being copied.
    await ask(slotText, [`florin_backup_${process.pid}`]);
    await ask(startText, ['florin'], checkpointTimeoutMs);
    return {
      startedAt: facts.startedAt,
      majorVersion: facts.version,
      masterKeyFingerprint: facts.fingerprint,
      async finish() {
        const { lsn, label } = await ask<{ lsn: string; label: string }>(stopText, []);
        const { last, bytes, endedAt, archiveSlot } = await ask<End>(segmentsText, [lsn]);
        const segments = segmentsBetween(firstSegmentOf(label), last, bytes);
        // An archive that began meanwhile may lack the beginning.
        return { label, segments, endedAt, archiveSlot: archiveSlot === facts.archiveSlot ? archiveSlot : null };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};
