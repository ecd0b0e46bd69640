import pg from 'pg';
import { segmentBytes } from '../core/logSegment.ts';
import type { ConnectionSettings } from './connect.ts';

/**
 * The log of the embedded server, for the one who archives it. A replication slot keeps what is not archived yet. It
 * outlives restarts of the server, and no backup contains it: a restored server has none.
 */

const slotPrefix = 'florin_archive_';

/** The archive that is being written has one slot, whose name has its id. */
export const archiveSlotText = `select max(slot_name)::text from pg_replication_slots where starts_with(slot_name, '${slotPrefix}')`;

export const archiveOfSlot = (slot: string): string => slot.slice(slotPrefix.length);

/** Positions are bytes since the beginning of the log. */
export type LogPosition = {
  /** The archive's id; null if there is no slot. */
  readonly archive: string | null;
  /** From where on the server keeps its log. 0 without a slot. */
  readonly keptFrom: number;
  /** What is before it is on disk and does not change any more. */
  readonly flushed: number;
  readonly timeline: number;
};

export type LogServer = {
  read(): Promise<LogPosition>;
  /** Keeps the log from here on for an archive with this id. */
  begin(archive: string): Promise<void>;
  /** What is before the position need not be kept any more. */
  release(archive: string, position: number): Promise<void>;
  /** Keeps nothing any more, for no archive. */
  forget(): Promise<void>;
  close(): Promise<void>;
};

const answerTimeoutMs = 30_000;

const readText = `select s.slot_name as slot, coalesce(s.restart_lsn - '0/0'::pg_lsn, 0)::float8 as "keptFrom",
    (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::float8 as flushed,
    ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int as timeline,
    pg_size_bytes(current_setting('wal_segment_size'))::float8 as "segmentBytes"
  from (select 1) one left join pg_replication_slots s on s.slot_name = (${archiveSlotText})`;
const beginText = 'select pg_create_physical_replication_slot($1, true)';
const releaseText = `select pg_replication_slot_advance($1, '0/0'::pg_lsn + $2::numeric)`;
const forgetText = `select pg_drop_replication_slot(slot_name) from pg_replication_slots
  where starts_with(slot_name, '${slotPrefix}')`;

type Read = { slot: string | null; keptFrom: number; flushed: number; timeline: number; segmentBytes: number };

/** One connection, of a superuser: only these may make slots. */
export const openLogServer = async (superuser: ConnectionSettings): Promise<LogServer> => {
  const client = new pg.Client({
    ...superuser,
    application_name: 'florin log archive',
    keepAlive: true,
    connectionTimeoutMillis: answerTimeoutMs,
    query_timeout: answerTimeoutMs,
  });
  // The next query fails, and says why.
  client.on('error', () => {});
  await client.connect();
  return {
    async read() {
      const { slot, keptFrom, flushed, timeline, ...server } = (await client.query<Read>(readText)).rows[0]!;
      if (server.segmentBytes !== segmentBytes) throw new Error('The server has segments of another size.');
      return { archive: slot === null ? null : archiveOfSlot(slot), keptFrom, flushed, timeline };
    },
    async begin(archive) {
      await client.query(beginText, [`${slotPrefix}${archive}`]);
    },
    async release(archive, position) {
      await client.query(releaseText, [`${slotPrefix}${archive}`, position]);
    },
    async forget() {
      await client.query(forgetText);
      // Now, and not when the next one is due: the disk may be nearly full.
      await client.query('checkpoint');
    },
    async close() {
      await client.end().catch(() => undefined);
    },
  };
};

const replayedText = `select pg_last_xact_replay_timestamp() as "replayedAt",
  (select value from deployment where name = 'master_key_fingerprint') as "masterKeyFingerprint"`;

export type Recovered = {
  /** When the last transaction that was played was committed; null if none was. */
  readonly replayedAt: Date | null;
  readonly masterKeyFingerprint: string | null;
};

/** What a server that has just played its log says about itself. */
export const readRecovered = async (superuser: ConnectionSettings): Promise<Recovered> => {
  const client = new pg.Client({ ...superuser, connectionTimeoutMillis: answerTimeoutMs });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Recovered>(replayedText)).rows[0]!;
  } finally {
    await client.end();
  }
};
