import type { Role } from '../../core/access/rights.ts';
import type { SessionEnd } from '../../core/api/sessionApi.ts';
import type { Queryable } from '../database.ts';

export type SessionRow = {
  id: string;
  createdAt: Date;
  lastSeenAt: Date;
  address: string;
  device: string;
};

const insertStatement = {
  name: 'session-insert',
  text: `with seen as (update memberships set last_seen_at = clock_timestamp() where account_id = $1 and person_id = $2)
    insert into sessions (account_id, person_id, id, token_hash, expires_at, address, device)
    values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5), $6, $7)`,
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
  await tx.query(insertStatement, [accountId, personId, id, tokenHash, livesSeconds, address, device]);
};

/** Why a session is deleted. That time ended it is known from its own row. */
export type EndReason = Exclude<SessionEnd, 'expired' | 'idle' | 'unknown'>;

/** Deletes sessions and keeps the reason for the browser that has the token. `reason` is a parameter. */
const endingText = (where: string, reason: string): string => `with gone as (
      delete from sessions where person_id = $1 and ${where} returning token_hash
    )
    insert into ended_sessions (token_hash, reason) select token_hash, ${reason}::text from gone returning token_hash`;

const trimStatement = {
  name: 'session-trim',
  text: endingText(
    `id in (select id from sessions where person_id = $1 order by last_seen_at desc, id desc offset $2)`,
    `'too_many'`,
  ),
};
/** Keeps the `most` sessions that were used last and ends the others. */
export const trimSessions = async (tx: Queryable, personId: string, most: number): Promise<void> => {
  await tx.query(trimStatement, [personId, most]);
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
};

/** `s`, `m` and `p`: a session, its person, and their membership in the account that the session is open in. */
const openSessions = `sessions s
      join memberships m on m.account_id = s.account_id and m.person_id = s.person_id and m.removed_at is null
      join people p on p.id = s.person_id and p.removed_at is null`;

const findStatement = {
  name: 'session-find',
  text: `select s.id as "sessionId", p.id as "personId", m.account_id as "accountId", m.role, p.name, p.email,
      case when s.proven_until > clock_timestamp() then s.proven_until end as "provenUntil",
      case when s.strongly_proven_until > clock_timestamp() then s.strongly_proven_until end as "stronglyProvenUntil",
      s.last_seen_at < clock_timestamp() - make_interval(secs => $3) as "isStale"
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
  text: `select m.role from ${openSessions}
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
  text: `update sessions set proven_until = clock_timestamp() + make_interval(secs => $3),
      strongly_proven_until = case when $4 then clock_timestamp() + make_interval(secs => $3)
        else strongly_proven_until end
    where person_id = $1 and id = $2
    returning proven_until as "provenUntil", strongly_proven_until as "stronglyProvenUntil"`,
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
  text: `select id, created_at as "createdAt", last_seen_at as "lastSeenAt", address, device from sessions
    where person_id = $1 and expires_at > clock_timestamp()
      and last_seen_at > clock_timestamp() - make_interval(secs => $2) order by last_seen_at desc, id limit 100`,
};
export const listSessions = (db: Queryable, personId: string, idleSeconds: number): Promise<SessionRow[]> =>
  db.query<SessionRow>(listStatement, [personId, idleSeconds]);

const switchStatement = {
  name: 'session-switch',
  text: `update sessions set account_id = $3 where person_id = $1 and id = $2 returning id`,
};
/** Opens the session in another account, of which the person must be a member. False if the session has ended. */
export const switchSession = async (
  tx: Queryable,
  session: { personId: string; sessionId: string },
  accountId: string,
): Promise<boolean> => (await tx.query(switchStatement, [session.personId, session.sessionId, accountId])).length > 0;

const endStatement = { name: 'session-end', text: endingText('id = $2', '$3') };
export const endSession = async (tx: Queryable, personId: string, id: string, reason: EndReason): Promise<boolean> =>
  (await tx.query(endStatement, [personId, id, reason])).length > 0;

const endAllStatement = {
  name: 'session-end-all',
  text: endingText('($2::text is null or id <> $2) and ($4::text is null or account_id = $4)', '$3'),
};
/** Ends a person's sessions: all but `keptId`, in all accounts or only those open in one. Returns how many. */
export const endSessions = async (
  tx: Queryable,
  personId: string,
  reason: EndReason,
  { keptId = null, accountId = null }: { keptId?: string | null; accountId?: string | null } = {},
): Promise<number> => (await tx.query(endAllStatement, [personId, keptId, reason, accountId])).length;

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
