import type { Queryable, Row } from './database.ts';

const identityStatement = {
  name: 'database-identity',
  text: `select s.system_identifier || '/' || c.timeline_id || '/' || d.oid as identity
    from pg_control_system() s, pg_control_checkpoint() c, pg_database d where d.datname = current_database()`,
};
/** Changes when the database is restored from a dump or to an earlier moment, and when another server takes over. */
export const readDatabaseIdentity = async (db: Queryable): Promise<string> =>
  (await db.query<Row & { identity: string }>(identityStatement))[0]!.identity;

const claimStatement = {
  name: 'database-identity-claim',
  text: `insert into deployment as d (name, value) values ('database_identity', $1)
    on conflict (name) do update set value = excluded.value where d.value <> excluded.value
    returning (xmax <> 0) as changed`,
};
/** True when the database was another one before. Of several processes, only one gets true. */
export const claimDatabaseIdentity = async (tx: Queryable, identity: string): Promise<boolean> =>
  (await tx.query<Row & { changed: boolean }>(claimStatement, [identity]))[0]?.changed ?? false;

const skipStatement = {
  name: 'derivation-counters-skip',
  text: `update derivation_counters set next = next + case when series like 'xpub/%' then $1::bigint else $2::bigint end
    returning series`,
};
/** Moves every counter ahead. Returns how many there are. */
export const skipDerivationIndexes = async (
  tx: Queryable,
  skip: { xpub: number; forwarder: number },
): Promise<number> => (await tx.query(skipStatement, [skip.xpub, skip.forwarder])).length;
