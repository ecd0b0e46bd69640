import { beforeAll, expect, test } from 'vitest';
import { type Attempt, beginSignIn } from '../../src/engine/access/lockOut.ts';
import type { Queryable } from '../../src/storage/database.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { eventually } from '../support/until.ts';

let florin: TestFlorin;
beforeAll(async () => {
  florin = await startTestFlorin();
});

type Taken = { readonly attempt: Attempt; readonly first: Buffer; readonly others: readonly Buffer[] };

const subjectsOf = async (): Promise<Buffer[]> =>
  (await florin.admin.db.query<{ subject: Buffer }>({ name: '', text: 'select subject from sign_in_failures' }, []))
    .map(({ subject }) => subject)
    .toSorted(Buffer.compare);

const take = async (email: string): Promise<Taken> => {
  await florin.admin.db.script('delete from sign_in_failures');
  const attempt = await beginSignIn(florin.admin, { email, addressKey: '192.0.2.1', deviceId: null });
  const [first, ...others] = await subjectsOf();
  return { attempt, first: first!, others };
};

const lock = async (tx: Queryable, subjects: readonly Buffer[]): Promise<number> => {
  const text = 'select subject from sign_in_failures where subject = any($1) for update skip locked';
  return (await tx.query({ name: '', text }, [subjects])).length;
};

// The other connection waits for the transaction that has the row.
const waiting = `select 1 from pg_locks where locktype = 'transactionid' and not granted`;

// Among four people, the row of person and address comes before and after the others.
test.each(['ann', 'bob', 'cid', 'dan'])('a right or undone try of %s locks its rows in one order', async name => {
  for (const end of ['markCorrect', 'undo'] as const) {
    const { attempt, first, others } = await take(`${name}@example.com`);
    expect(others).toHaveLength(2);
    let ended: Promise<void> | undefined;
    await florin.admin.db.transaction(async tx => {
      expect(await lock(tx, [first])).toBe(1);
      ended = florin.admin.db.transaction(other => attempt[end](other));
      await eventually(async () => expect(await tx.query({ name: '', text: waiting }, [])).toHaveLength(1));
      expect(await lock(tx, others), end).toBe(2);
    });
    await ended;
  }
});

test('a try that waits for a right one, which deletes its row, counts as the first', async () => {
  const origin = { email: 'eve@example.com', addressKey: '192.0.2.2', deviceId: null };
  const right = await beginSignIn(florin.admin, origin);
  let next: Promise<Attempt> | undefined;
  await florin.admin.db.transaction(async tx => {
    await lock(tx, await subjectsOf());
    next = beginSignIn(florin.admin, origin);
    await eventually(async () => expect(await tx.query({ name: '', text: waiting }, [])).toHaveLength(1));
    await right.markCorrect(tx);
  });
  expect((await next)?.failures).toBe(1);
});
