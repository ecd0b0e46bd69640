import { finishedVersion } from '../appliedMigrations.ts';
import type { Queryable, Row } from '../database.ts';

/** The fingerprint of the key in force, and the mark of a rotation, which may be over. */
export type KeyState = { readonly inForce: string; readonly mark: string | null };

const fingerprintName = 'master_key_fingerprint';
const markName = 'master_key_rotation';
const values = `(select value from deployment where name = '${fingerprintName}') as "inForce",
  (select value from deployment where name = '${markName}') as mark`;

const readStatement = { name: 'keys-read', text: `select ${values}` };
export const readKeyState = async (db: Queryable): Promise<KeyState> =>
  (await db.query<Row & KeyState>(readStatement))[0]!;

/** Which keys a process holds, by their fingerprints: it makes values with one, and accepts those of another. */
export type Holder = { readonly holder: string; readonly makes: string; readonly accepts: string | null };

/** Written more rarely than it is asked, because an idle installation should not write each second. */
const writtenEverySeconds = 5;
/** After this long without a sign, a process is gone. It stops making values earlier (`freshMs` of the key watch). */
export const goneAfterSeconds = 30;

/** What a process says about itself. */
export type Note = Holder & {
  /** The newest migration that it knows. */
  readonly knows: number;
  readonly roles: string;
  /** Whether this is its first note. */
  readonly isNew: boolean;
};
/** `finished` is the newest migration that every process must know. */
export type Noted = KeyState & { readonly finished: number };

const noteStatement = {
  name: 'keys-note-holder',
  text: `with clock as materialized (select clock_timestamp()::timestamptz(3) as now),
    noted as (
      insert into key_holders as old (holder, makes, accepts, seen_at, knows, knows_at, roles, started_at)
      select $1, $2, $3, now, $4, now, $5, now from clock
      on conflict (holder) do update set makes = excluded.makes, accepts = excluded.accepts, seen_at = excluded.seen_at,
          knows = excluded.knows, knows_at = excluded.knows_at, roles = excluded.roles,
          started_at = case when $6 then excluded.started_at else old.started_at end
        where $6 or (old.makes, old.accepts) is distinct from (excluded.makes, excluded.accepts)
          or old.seen_at < excluded.seen_at - interval '${writtenEverySeconds} seconds'
    )
    select ${values}, ${finishedVersion} as finished`,
};
/** Says which keys this process holds and of which release it is, and reads which keys it should hold. */
export const noteHolder = async (db: Queryable, note: Note): Promise<Noted> => {
  const { holder, makes, accepts, knows, roles, isNew } = note;
  return (await db.query<Row & Noted>(noteStatement, [holder, makes, accepts, knows, roles, isNew]))[0]!;
};

const leaveStatement = {
  name: 'keys-holder-gone',
  text: `update key_holders set seen_at = '-infinity' where holder = $1`,
};
/** This process ends: nobody needs to wait for it. */
export const noteHolderGone = async (db: Queryable, holder: string): Promise<void> => {
  await db.query(leaveStatement, [holder]);
};

const holdersStatement = {
  name: 'keys-holders',
  text: `select holder, makes, accepts from key_holders
    where seen_at > clock_timestamp() - interval '${goneAfterSeconds} seconds' order by holder limit 1000`,
};
/** The processes that run. */
export const listHolders = (db: Queryable): Promise<Holder[]> => db.query<Row & Holder>(holdersStatement);

const markStatement = {
  name: 'keys-mark',
  text: `insert into deployment as d (name, value) select '${markName}', $2
    where (select value from deployment where name = '${fingerprintName}') = $1
    on conflict (name) do update set value = excluded.value returning 1 as n`,
};
/** Marks a rotation of the key in force. False if another key is in force. */
export const putRotationMark = async (tx: Queryable, inForce: string, mark: string): Promise<boolean> =>
  (await tx.query(markStatement, [inForce, mark])).length > 0;

const finishStatement = {
  name: 'keys-finish',
  text: `update deployment set value = $2 where name = '${fingerprintName}' and value = $1`,
};
export const putKeyInForce = async (tx: Queryable, from: string, to: string): Promise<void> => {
  await tx.query(finishStatement, [from, to]);
};

const writersStatement = {
  name: 'keys-writers',
  text: `select l.pid || ' ' || l.transactionid as id from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted and l.pid <> pg_backend_pid()
      and a.datname = current_database()`,
};
/** The transactions in this database that run and have written something. */
export const writingTransactions = async (db: Queryable): Promise<Set<string>> =>
  new Set((await db.query<Row & { id: string }>(writersStatement)).map(({ id }) => id));
