import type { Queryable, Row } from './database.ts';

export type Standbys = {
  /** `synchronous_standby_names`; empty if commits wait for nobody. */
  readonly names: string;
  /** `synchronous_commit` of this role. */
  readonly commit: string;
  /** Connected standbys, and those of them that commits wait for. Null if this role may not see which these are. */
  readonly connected: number;
  readonly synchronous: readonly string[] | null;
  readonly role: string;
};

// Without the rights of pg_read_all_stats, everything about a standby but its presence is null. A base backup is none.
const statement = {
  name: 'standbys',
  text: `select current_setting('synchronous_standby_names') as names, current_setting('synchronous_commit') as commit,
      current_user as role, s.connected, s.hidden, s.synchronous
    from (
      select count(*)::int as connected, coalesce(bool_or(sync_state is null), false) as hidden,
        coalesce(array_agg(application_name order by application_name) filter (where sync_state in ('sync', 'quorum')), '{}')
          as synchronous
      from pg_stat_replication where state is null or state <> 'backup'
    ) s`,
};

export type Replay = { readonly isStandby: boolean; readonly isSameCluster: boolean; readonly bytesBehind: number };

const systemOf = '(select system_identifier::text from pg_control_system()) as system';
const replayedStatement = {
  name: 'standby-replayed',
  text: `select pg_is_in_recovery() as "isStandby", pg_last_wal_replay_lsn()::text as replayed, ${systemOf}`,
};
const behindStatement = {
  name: 'standby-behind',
  text: `select coalesce(greatest(pg_wal_lsn_diff(pg_current_wal_flush_lsn(), $1::text::pg_lsn), 0), 0)::float8 as behind, ${systemOf}`,
};

/** How far a standby is behind the primary now. */
export const readReplay = async (standby: Queryable, primary: Queryable): Promise<Replay> => {
  const [there] = await standby.query<Row & { isStandby: boolean; replayed: string | null; system: string }>(
    replayedStatement,
  );
  const { isStandby, replayed, system } = there!;
  const [here] = await primary.query<Row & { behind: number; system: string }>(behindStatement, [replayed]);
  return { isStandby, isSameCluster: here!.system === system, bytesBehind: here!.behind };
};

/** What the primary says about its standbys. */
export const readStandbys = async (db: Queryable): Promise<Standbys> => {
  type Answer = Row & Omit<Standbys, 'synchronous'> & { hidden: boolean; synchronous: string[] };
  const { hidden, synchronous, ...rest } = (await db.query<Answer>(statement))[0]!;
  return { ...rest, synchronous: hidden ? null : synchronous };
};
