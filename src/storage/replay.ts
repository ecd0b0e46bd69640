import type { Queryable, Row } from './database.ts';

/** A moment of a server. */
export type Written = { readonly lsn: string; readonly system: string; readonly startedAt: string };

const ofServer = `(select system_identifier::text from pg_control_system()) as system,
  pg_postmaster_start_time()::text as "startedAt"`;

const writtenStatement = {
  name: 'replay-written',
  text: `select pg_current_wal_flush_lsn()::text as lsn, ${ofServer}`,
};
/** What the primary has written so far. */
export const readWritten = async (primary: Queryable): Promise<Written> =>
  (await primary.query<Row & Written>(writtenStatement))[0]!;

export type Replay = {
  readonly isStandby: boolean;
  /** What is still to be applied. Null on a server that is no standby. */
  readonly bytesBehind: number | null;
  readonly system: string;
  readonly startedAt: string;
};

const replayStatement = {
  name: 'replay-state',
  text: `select pg_is_in_recovery() as "isStandby", ${ofServer},
      case when pg_is_in_recovery()
        then greatest(pg_wal_lsn_diff($1::text::pg_lsn, pg_last_wal_replay_lsn()), 0)::float8 end as "bytesBehind"`,
};
/** How far a server has applied what the primary had written at a moment. */
export const readReplay = async (server: Queryable, { lsn }: Written): Promise<Replay> =>
  (await server.query<Row & Replay>(replayStatement, [lsn]))[0]!;

const recordsStatement = {
  name: 'replay-records',
  text: 'select (select count(*) from (select from audit_log limit 1) a)::int as acts',
};
/** Throws if the records cannot be read there. */
export const readRecords = async (server: Queryable): Promise<void> => {
  await server.query(recordsStatement);
};
