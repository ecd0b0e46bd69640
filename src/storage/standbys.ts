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

/** What the primary says about its standbys. */
export const readStandbys = async (db: Queryable): Promise<Standbys> => {
  type Answer = Row & Omit<Standbys, 'synchronous'> & { hidden: boolean; synchronous: string[] };
  const { hidden, synchronous, ...rest } = (await db.query<Answer>(statement))[0]!;
  return { ...rest, synchronous: hidden ? null : synchronous };
};
