import type { Queryable } from '../database.ts';

/** All tries at one person's password from unknown devices. They drain, like water from a bucket. */
export type GuessBudget = {
  readonly subject: Buffer;
  readonly drainPerMinute: number;
};

const drained = `greatest(0, b.tries - $2::float8 / 60 *
  greatest(0, extract(epoch from clock_timestamp() - b.counted_at))::float8)`;

const takeStatement = {
  name: 'guess-take',
  text: `insert into guess_budgets as b (subject, tries, addresses, counted_at)
      values ($1, 1, $4::int, clock_timestamp())
    on conflict (subject) do update set tries = ${drained} + 1, counted_at = clock_timestamp(),
      addresses = case when ${drained} = 0 then 0 else b.addresses end + $4::int,
      noticed_at = case when ${drained} = 0 then null else b.noticed_at end
    where ${drained} + 1 <= $3::float8
    returning addresses, noticed_at is null as "isUnnoticed"`,
};

export type TakenTry = { readonly addresses: number; readonly isUnnoticed: boolean };

/** Counts a try. Null, and nothing is counted, if there would be more than `ceiling`. */
export const takeTry = async (
  tx: Queryable,
  { subject, drainPerMinute }: GuessBudget,
  { ceiling, isNewAddress }: { readonly ceiling: number; readonly isNewAddress: boolean },
): Promise<TakenTry | null> => {
  const values = [subject, drainPerMinute, ceiling, isNewAddress ? 1 : 0];
  return (await tx.query<TakenTry>(takeStatement, values))[0] ?? null;
};

const undoStatement = {
  name: 'guess-undo',
  text: `update guess_budgets set tries = greatest(0, tries - 1), addresses = greatest(0, addresses - $2::int)
    where subject = $1`,
};
/** Takes back a try that was not wrong. */
export const undoTry = async (tx: Queryable, subject: Buffer, isNewAddress: boolean): Promise<void> => {
  await tx.query(undoStatement, [subject, isNewAddress ? 1 : 0]);
};

const noticeStatement = {
  name: 'guess-notice',
  text: `update guess_budgets set noticed_at = clock_timestamp()
    where subject = $1 and noticed_at is null and addresses >= $2 returning addresses`,
};
/** How many addresses failed, once for each time in which guesses go on; null if it was noticed before. */
export const noticeGuesses = async (tx: Queryable, subject: Buffer, fromAddresses: number): Promise<number | null> =>
  (await tx.query<{ addresses: number }>(noticeStatement, [subject, fromAddresses]))[0]?.addresses ?? null;
