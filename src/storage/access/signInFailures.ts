import type { Queryable } from '../database.ts';

export type Guess = {
  /** Hash of what is counted: a person, a client address, a session or a pair of them. */
  readonly subject: Buffer;
  /** Failures before the first wait. */
  readonly free: number;
  readonly firstSeconds: number;
  /** The longest wait. */
  readonly mostSeconds: number;
};

export type TakenGuess = {
  readonly subject: Buffer;
  readonly failures: number;
  /** The values before the guess, to be restored if it was not wrong. */
  readonly failuresBefore: number;
  readonly failedAtBefore: Date;
};

/** Doubles with each failure past the free ones, from the first wait to the longest. */
const waitSeconds = `least(g.most, g.first * 2 ^ least(f.failures - g.free, 20))`;
/** Older failures no longer count. */
const forgottenAfter = `interval '24 hours'`;

const given = `select * from unnest($1::bytea[], $2::int[], $3::int[], $4::int[]) as t(subject, free, first, most)`;

/** Compares failures first: free guesses never wait, even if `failed_at` is slightly in the future. */
const lockedStatement = {
  name: 'failures-locked',
  text: `with given as (${given})
    select max(ceil(extract(epoch from f.failed_at - clock_timestamp()) + ${waitSeconds}))::int as seconds
    from given g join sign_in_failures f on f.subject = g.subject
    where f.failures >= g.free and f.failed_at + make_interval(secs => ${waitSeconds}) > clock_timestamp()`,
};
const takeStatement = {
  name: 'failures-take',
  text: `update sign_in_failures f set failed_at = clock_timestamp(),
      failures = case when f.failed_at < clock_timestamp() - ${forgottenAfter} then 1 else f.failures + 1 end
    where subject = any($1) returning subject, failures`,
};
// One statement makes the rows and locks those that exist: the end of another attempt may delete a row between two.
const lockStatement = {
  name: 'failures-lock',
  text: `insert into sign_in_failures as f (subject, failures, failed_at)
      select subject, 0, clock_timestamp() from unnest($1::bytea[]) as t(subject) order by subject
    on conflict (subject) do update set failures = f.failures returning subject, failures, failed_at as "failedAt"`,
};

/**
 * Counts a guess before it is checked, so that concurrent guesses count like successive ones. If one of the subjects is
 * locked, returns the seconds to wait and counts nothing.
 */
export const takeGuesses = async (
  tx: Queryable,
  guesses: readonly Guess[],
): Promise<{ locked: number } | { taken: TakenGuess[] }> => {
  const subjects = guesses.map(guess => guess.subject);
  const limits = [
    subjects,
    guesses.map(guess => guess.free),
    guesses.map(guess => guess.firstSeconds),
    guesses.map(guess => guess.mostSeconds),
  ];
  const lockedFor = async (): Promise<number> =>
    (await tx.query<{ seconds: number | null }>(lockedStatement, limits))[0]?.seconds ?? 0;
  // A refused guess leaves no row behind.
  const refusedFor = await lockedFor();
  if (refusedFor) return { locked: Math.max(1, refusedFor) };
  // The row must exist to be locked: otherwise concurrent first guesses would each find none.
  const before = await tx.query<{ subject: Buffer; failures: number; failedAt: Date }>(lockStatement, [subjects]);
  const seconds = await lockedFor();
  if (seconds) return { locked: Math.max(1, seconds) };
  const rows = await tx.query<{ subject: Buffer; failures: number }>(takeStatement, [subjects]);
  const taken = rows.map(row => {
    const old = before.find(each => each.subject.equals(row.subject))!;
    return { ...row, failuresBefore: old.failures, failedAtBefore: old.failedAt };
  });
  return { taken };
};

const undoStatement = {
  name: 'failures-undo',
  text: `update sign_in_failures set failures = case when failures = $4 then $2 else greatest(failures - 1, 0) end,
      failed_at = case when failures = $4 then $3 else failed_at end
    where subject = $1`,
};
/** Takes back a guess that was not wrong. Guesses counted since then stay counted. */
export const undoGuess = async (tx: Queryable, guess: TakenGuess): Promise<void> => {
  await tx.query(undoStatement, [guess.subject, guess.failuresBefore, guess.failedAtBefore, guess.failures]);
};

const clearStatement = { name: 'failures-clear', text: `delete from sign_in_failures where subject = $1` };
export const clearGuesses = async (tx: Queryable, subject: Buffer): Promise<void> => {
  await tx.query(clearStatement, [subject]);
};

/** Even a full budget is empty again after 42 hours without a try (`engine/access/lockOut`). */
const drainedAfter = `interval '48 hours'`;

const purgeStatement = {
  name: 'sign-in-purge',
  text: `with failures as (delete from sign_in_failures where subject in (
        select subject from sign_in_failures where failed_at < clock_timestamp() - ${forgottenAfter} limit $1) returning 1),
      challenges as (delete from passkey_challenges where challenge in (
        select challenge from passkey_challenges where expires_at < clock_timestamp() limit $1) returning 1),
      ended as (delete from sessions where (account_id, person_id, id) in (
        select account_id, person_id, id from sessions where expires_at < clock_timestamp() limit $1) returning 1),
      known as (delete from ended_sessions where token_hash in (
        select token_hash from ended_sessions where ended_at < clock_timestamp() - ${forgottenAfter} limit $1) returning 1),
      budgets as (delete from guess_budgets where subject in (
        select subject from guess_budgets where counted_at < clock_timestamp() - ${drainedAfter} limit $1) returning 1),
      links as (delete from access_links where (account_id, id) in (
        select account_id, id from access_links where expires_at < clock_timestamp() - ${forgottenAfter} limit $1) returning 1)
    select greatest((select count(*) from failures), (select count(*) from challenges), (select count(*) from ended),
      (select count(*) from known), (select count(*) from budgets), (select count(*) from links))::int as most`,
};
/** Deletes expired failures, budgets, challenges, sessions and links. Returns how many of the kind with the most. */
export const purgeSignIns = async (db: Queryable, limit: number): Promise<number> =>
  (await db.query<{ most: number }>(purgeStatement, [limit]))[0]!.most;
