import type { Role } from '../../core/access/rights.ts';
import type { SessionEnd } from '../../core/api/sessionApi.ts';
import { registerState } from '../audit/register.ts';
import type { Queryable, Row } from '../database.ts';
import { sealedUpdate, sealsOf, toSeal, type Vouched } from '../seals.ts';

export type SessionRow = {
  id: string;
  createdAt: Date;
  lastSeenAt: Date;
  address: string;
  device: string;
};

// The sessions that are over leave the list with the next sign-in.
const nameStatement = {
  name: 'session-name',
  text: sealedUpdate('people', {
    set: {
      session_ids: `(select array_agg(i.id order by i.id) from (
        select s.id from sessions s
        where s.person_id = t.id and s.id = any(t.session_ids) and s.expires_at > clock_timestamp()
        union select $2::text collate "C") i)`,
    },
    where: 't.id = $1',
  }),
};
const insertStatement = {
  name: 'session-insert',
  text: `with seen as (update memberships set last_seen_at = clock_timestamp() where account_id = $1 and person_id = $2)
    insert into sessions as t (account_id, person_id, id, token_hash, expires_at, address, device)
    values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5), $6, $7) returning ${toSeal('sessions', 't')}`,
};
export const insertSession = async (
  tx: Queryable,
  session: {
    accountId: string;
    personId: string;
    id: string;
    tokenHash: Buffer;
    livesSeconds: number;
    address: string;
    device: string;
  },
): Promise<void> => {
  const { accountId, personId, id, tokenHash, livesSeconds, address, device } = session;
  await tx.query(nameStatement, [personId, id]);
  await tx.query(insertStatement, [accountId, personId, id, tokenHash, livesSeconds, address, device]);
};

/** Why a session is deleted. That time ended it is known from its own row. */
export type EndReason = Exclude<SessionEnd, 'expired' | 'idle' | 'unknown'>;

/** An end of sessions: their ids leave the person's row, their rows go, and the reason is kept for browsers with a token. */
const ending = (name: string, where: string, reasonAt: string) => ({
  forget: {
    name: `${name}-forget`,
    text: sealedUpdate('people', {
      set: {
        session_ids: `nullif(array(select i.id from unnest(t.session_ids) with ordinality i(id, at)
          where exists (select from sessions s where s.person_id = $1 and s.id = i.id and not (${where})) order by i.at), '{}')`,
      },
      where: `t.id = $1 and t.session_ids is not null`,
    }),
  },
  remove: {
    name,
    text: `with gone as (delete from sessions s where s.person_id = $1 and ${where} returning s.token_hash)
      insert into ended_sessions (token_hash, reason) select token_hash, ${reasonAt}::text from gone
      on conflict do nothing returning token_hash`,
  },
});

/** Returns how many sessions ended. The person's row comes first: who changes a person locks it first, too. */
const end = async (
  tx: Queryable,
  { forget, remove }: ReturnType<typeof ending>,
  values: readonly (string | number | null)[],
  reason: EndReason,
): Promise<number> => {
  await tx.query(forget, values);
  return (await tx.query(remove, [...values, reason])).length;
};

const trimming = ending(
  'session-trim',
  `s.id in (select id from sessions where person_id = $1 order by last_seen_at desc, id desc offset $2)`,
  '$3',
);
const countStatement = {
  name: 'session-count',
  text: 'select count(*)::int as count from sessions where person_id = $1',
};
/** Keeps the `most` sessions that were used last and ends the others. */
export const trimSessions = async (tx: Queryable, personId: string, most: number): Promise<void> => {
  const [row] = await tx.query<Row & { count: number }>(countStatement, [personId]);
  if (row!.count > most) await end(tx, trimming, [personId, most], 'too_many');
};

/** The person behind a session. Times of proofs are null once they have passed by the database's clock. */
export type SessionOwner = {
  sessionId: string;
  personId: string;
  accountId: string;
  role: Role;
  name: string;
  email: string;
  provenUntil: Date | null;
  /** Until when a proof by a passkey or a code counts. */
  stronglyProvenUntil: Date | null;
  isStale: boolean;
  vouched: Vouched | null;
};

/**
 * `s`, `m` and `p`: a session, its person, and their membership in the account that the session is open in. A session that
 * its person no longer names has ended, whatever rows there are.
 */
const openSessions = `sessions s
      join memberships m on m.account_id = s.account_id and m.person_id = s.person_id and m.removed_at is null
      join people p on p.id = s.person_id and p.removed_at is null and s.id = any(p.session_ids)`;
const ofOpen = sealsOf({ s: 'sessions', m: 'memberships', p: 'people' });

const findStatement = {
  name: 'session-find',
  text: `select s.id as "sessionId", p.id as "personId", m.account_id as "accountId", m.role, p.name, p.email,
      case when s.proven_until > clock_timestamp() then s.proven_until end as "provenUntil",
      case when s.strongly_proven_until > clock_timestamp() then s.strongly_proven_until end as "stronglyProvenUntil",
      s.last_seen_at < clock_timestamp() - make_interval(secs => $3) as "isStale",
      ${registerState('m.account_id')}, ${ofOpen}
    from ${openSessions}
    where s.token_hash = $1 and s.expires_at > clock_timestamp()
      and s.last_seen_at > clock_timestamp() - make_interval(secs => $2)`,
};
/** Null if the session ended, was idle for too long or never existed. */
export const findSession = async (
  db: Queryable,
  tokenHash: Buffer,
  times: { idleSeconds: number; staleSeconds: number },
): Promise<SessionOwner | null> =>
  (await db.query<SessionOwner>(findStatement, [tokenHash, times.idleSeconds, times.staleSeconds]))[0] ?? null;

const roleStatement = {
  name: 'session-role',
  text: `select m.role, ${ofOpen} from ${openSessions}
    where s.account_id = $1 and s.person_id = $2 and s.id = $3 and s.expires_at > clock_timestamp()`,
};
/** The role behind a session that has not ended, however long it was idle: for work that outlives its request. */
export const readSessionRole = async (
  db: Queryable,
  session: { accountId: string; personId: string; sessionId: string },
): Promise<Role | null> => {
  const values = [session.accountId, session.personId, session.sessionId];
  return (await db.query<{ role: Role }>(roleStatement, values))[0]?.role ?? null;
};

const touchStatement = {
  name: 'session-touch',
  text: `with seen as (update memberships set last_seen_at = clock_timestamp() where account_id = $1 and person_id = $2)
    update sessions set last_seen_at = clock_timestamp() where person_id = $2 and id = $3`,
};
export const touchSession = async (db: Queryable, owner: SessionOwner): Promise<void> => {
  await db.query(touchStatement, [owner.accountId, owner.personId, owner.sessionId]);
};

const proveStatement = {
  name: 'session-prove',
  text: sealedUpdate('sessions', {
    set: {
      proven_until: 'clock_timestamp() + make_interval(secs => $3)',
      strongly_proven_until: `case when $4 then clock_timestamp() + make_interval(secs => $3)
        else t.strongly_proven_until end`,
    },
    where: 't.person_id = $1 and t.id = $2',
    returning: 't.proven_until as "provenUntil", t.strongly_proven_until as "stronglyProvenUntil"',
  }),
};
/** Null if the session has ended. A proof by a password leaves an earlier, stronger one as it is. */
export const proveSession = async (
  tx: Queryable,
  session: { personId: string; sessionId: string },
  { seconds, isStrong }: { seconds: number; isStrong: boolean },
): Promise<{ provenUntil: Date; stronglyProvenUntil: Date | null } | null> => {
  const values = [session.personId, session.sessionId, seconds, isStrong];
  const rows = await tx.query<{ provenUntil: Date; stronglyProvenUntil: Date | null }>(proveStatement, values);
  return rows[0] ?? null;
};

const listStatement = {
  name: 'session-list',
  text: `select s.id, s.created_at as "createdAt", s.last_seen_at as "lastSeenAt", s.address, s.device,
      ${sealsOf({ s: 'sessions', p: 'people' })}
    from sessions s join people p on p.id = s.person_id and s.id = any(p.session_ids) where s.person_id = $1 and s.expires_at > clock_timestamp()
      and s.last_seen_at > clock_timestamp() - make_interval(secs => $2) order by s.last_seen_at desc, s.id limit 100`,
};
export const listSessions = (db: Queryable, personId: string, idleSeconds: number): Promise<SessionRow[]> =>
  db.query<SessionRow>(listStatement, [personId, idleSeconds]);

const switchStatement = {
  name: 'session-switch',
  text: sealedUpdate('sessions', { set: { account_id: '$3' }, where: 't.person_id = $1 and t.id = $2' }),
};
/** Opens the session in another account, of which the person must be a member. False if the session has ended. */
export const switchSession = async (
  tx: Queryable,
  session: { personId: string; sessionId: string },
  accountId: string,
): Promise<boolean> => (await tx.query(switchStatement, [session.personId, session.sessionId, accountId])).length > 0;

const laterStatement = {
  name: 'session-later-proven',
  text: `select from sessions s join sessions mine on mine.person_id = s.person_id and mine.id = $2
    where s.person_id = $1 and s.created_at > mine.created_at and s.strongly_proven_until is not null
      and s.expires_at > clock_timestamp() and ($3::text is null or s.id = $3) limit 1`,
};
/** Whether a session, or any if `id` is null, is later than this one and had a proof by a passkey or a code. */
export const isLaterProven = async (
  tx: Queryable,
  session: { personId: string; sessionId: string },
  id: string | null,
): Promise<boolean> => (await tx.query(laterStatement, [session.personId, session.sessionId, id])).length > 0;

const endingOne = ending('session-end', 's.id = $2', '$3');
export const endSession = async (tx: Queryable, personId: string, id: string, reason: EndReason): Promise<boolean> =>
  (await end(tx, endingOne, [personId, id], reason)) > 0;

const endingAll = ending(
  'session-end-all',
  '($2::text is null or s.id <> $2) and ($3::text is null or s.account_id = $3)',
  '$4',
);
/** Ends a person's sessions: all but `keptId`, in all accounts or only those open in one. Returns how many. */
export const endSessions = (
  tx: Queryable,
  personId: string,
  reason: EndReason,
  { keptId = null, accountId = null }: { keptId?: string | null; accountId?: string | null } = {},
): Promise<number> => end(tx, endingAll, [personId, keptId, accountId], reason);

const whyStatement = {
  name: 'session-why-ended',
  text: `select coalesce(
      (select reason from ended_sessions where token_hash = $1),
      (select case when m.removed_at is not null then 'removed' when s.expires_at <= clock_timestamp() then 'expired'
          else 'idle' end
        from sessions s join memberships m on m.account_id = s.account_id and m.person_id = s.person_id
        where s.token_hash = $1),
      'unknown') as reason`,
};
/** Of a token that finds no session any more. */
export const whySessionEnded = async (db: Queryable, tokenHash: Buffer): Promise<SessionEnd> =>
  (await db.query<{ reason: SessionEnd }>(whyStatement, [tokenHash]))[0]!.reason;
