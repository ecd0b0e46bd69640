import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Block, WatchedBlock } from '../../src/core/chain.ts';
import { applyBlocks, rollBackAsDecided } from '../../src/engine/chain/applyBlocks.ts';
import { LeaseLost } from '../../src/engine/chain/heldChain.ts';
import { type Lease, takeLease } from '../../src/storage/chain/chains.ts';
import type { Written } from '../api/listingScene.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';
import { beginAnew, caip2, chainState, contract, genesis, hashOf, makeBlocks, stepOf } from './madeBlocks.ts';

let quiet: QuietScene;
let lease: Lease;
beforeAll(async () => {
  quiet = await startQuietScene();
});
beforeEach(async () => {
  lease = await beginAnew(quiet.context.db);
  quiet.errors.length = 0;
});

const apply = (...args: Parameters<typeof stepOf>) => applyBlocks(quiet.context, lease, stepOf(...args));
const state = () => chainState(quiet);
/** Like a driver: one block first. */
const begin = async (blocks: readonly WatchedBlock[], finalized: number | null = null): Promise<void> => {
  await apply(blocks.slice(0, 1));
  await apply(blocks.slice(1), null, finalized);
};

/** Payments of one and two and more base units of the token. */
const payments = async (count: number) => (await quiet.overdue(count, contract)).written;
const statusOf = async (id: string) =>
  (await quiet.read(`select status, amount_received::text as received from payments where id = '${id}'`))[0];
const kindsOf = async (id: string): Promise<string[]> =>
  (await quiet.read<{ type: string }>(`select type from events where payment_id = '${id}' order by sequence`)).map(
    ({ type }) => type.replace('payment.', ''),
  );

describe('what does not follow is refused, and nothing is written', () => {
  const main = makeBlocks(genesis, 'a', 10);
  const at = (number: number): Block => main[number]!;
  beforeEach(() => begin(main, 5));
  const [next, after] = makeBlocks(at(9), 'a', 2) as [WatchedBlock, WatchedBlock];
  const strange: Block = { ...at(7), hash: hashOf('x', 7) };
  const full = (block: Block) => ({ ...block, movements: [], forwards: [] });

  test.each<[string, Parameters<typeof stepOf>]>([
    ['a gap above the cursor', [[full(after)]]],
    ['a block below the cursor', [[full(at(9))]]],
    ['the child of another block', [makeBlocks({ ...at(9), hash: hashOf('x', 9) }, 'x', 1)]],
    ['a gap between two blocks', [[full(next), { ...full(after), number: after.number + 1 }]]],
    ['two blocks that are not linked', [[full(next), { ...full(after), parentHash: hashOf('x', 10) }]]],
    ['no block at all', [[]]],
    ['a fork from a block that is another one here', [makeBlocks(strange, 'x', 4), strange]],
    ['a fork from a block that is not kept', [makeBlocks({ number: 20, hash: 'x' }, 'b', 1), { ...at(7), number: 20 }]],
    ['a branch that does not follow on its fork', [makeBlocks(at(6), 'b', 4), at(7)]],
    ['a fork below a block that was final', [makeBlocks(at(4), 'b', 7), at(4)]],
  ])('%s', async (_, step) => {
    const before = await state();
    await expect(apply(...step)).rejects.toThrow(/block|rollback/);
    expect(await state()).toEqual(before);
  });

  test('a fork at a block that was final is none of these', async () => {
    await apply(makeBlocks(at(5), 'b', 6), at(5), 5);
    const rows = await quiet.read<{ number: string; hash: string }>(
      'select number::text, hash from blocks b where canonical order by b.number desc limit 2 offset 5',
    );
    expect(rows).toEqual([
      { number: '6', hash: hashOf('b', 6) },
      { number: '5', hash: hashOf('a', 5) },
    ]);
  });

  test('whoever lost the lease writes nothing, of blocks or by hand', async () => {
    const lost = lease;
    await takeLease(quiet.context.db, { caip2, holder: 'test', seconds: 600 });
    const before = await state();
    const blocks = makeBlocks(at(9), 'a', 1);
    await expect(applyBlocks(quiet.context, lost, stepOf(blocks))).rejects.toBeInstanceOf(LeaseLost);
    await expect(rollBackAsDecided(quiet.context, lost, 8)).rejects.toBeInstanceOf(LeaseLost);
    expect(await state()).toEqual(before);
  });
});

describe('a reorg', () => {
  test('takes the funds above the fork and leaves those in it', async () => {
    const [kept, lost] = (await payments(2)) as [Written, Written];
    const main = makeBlocks(genesis, 'a', 5, {
      2: [{ to: kept.address, amount: 1n }],
      3: [{ to: lost.address, amount: 2n }],
    });
    await begin(main);
    for (const { id } of [kept, lost]) expect(await statusOf(id)).toMatchObject({ status: 'completed' });
    await apply(makeBlocks(main[2]!, 'b', 3), main[2]!);
    expect(await statusOf(kept.id)).toEqual({ status: 'completed', received: '1' });
    expect(await statusOf(lost.id)).toEqual({ status: 'reversed', received: '0' });
  });

  test('and back again counts everything once, and final is what the rule says then', async () => {
    const [payment] = (await payments(1)) as [Written];
    const fork = makeBlocks(genesis, 'a', 2);
    const first = makeBlocks(fork[1]!, 'a', 3, { 2: [{ to: payment.address, amount: 1n }] });
    await begin([...fork, ...first]);
    expect(await statusOf(payment.id)).toEqual({ status: 'completed', received: '1' });
    await apply(makeBlocks(fork[1]!, 'b', 4), fork[1]!);
    expect(await statusOf(payment.id)).toEqual({ status: 'reversed', received: '0' });
    // Only as deep as its block: one confirmation of two.
    await apply(first.slice(0, 1), fork[1]!);
    expect(await statusOf(payment.id)).toEqual({ status: 'confirming', received: '1' });
    await apply(first.slice(1));
    expect(await statusOf(payment.id)).toEqual({ status: 'completed', received: '1' });
    const kinds = ['created', 'detected', 'confirming', 'completed', 'reversed', 'confirming', 'completed'];
    expect(await kindsOf(payment.id)).toEqual(kinds);
    expect(await quiet.read('select canonical, settled from transfers')).toEqual([{ canonical: true, settled: true }]);
  });

  test('that mines a transaction again elsewhere does not make it later', async () => {
    const [payment] = (await payments(1)) as [Written];
    const coming = [{ to: payment.address, amount: 1n, tx: hashOf('tx', 1) }];
    const main = makeBlocks(genesis, 'a', 3, { 2: coming });
    await begin(main);
    await apply(makeBlocks(main[1]!, 'b', 3, { 4: coming }), main[1]!);
    const seen = await quiet.read<{ canonical: boolean; first: Date }>(
      'select canonical, first_seen_at as first from transfers order by block_number',
    );
    expect(seen.map(({ canonical }) => canonical)).toEqual([false, true]);
    expect(seen[1]!.first).toEqual(seen[0]!.first);
  });
});

describe('blocks that are read after the payment of an address was created', () => {
  const counted = ({ id }: Written) =>
    quiet.read<{ at: number }>(`select block_number::int as at from transfers where payment_id = '${id}'`);
  const ofKey = (created: string, head: number | null) =>
    `wallet_kind = 'xpub', created_at = ${created}, head_number = ${head}, expires_at = clock_timestamp() + interval '1 hour'`;

  test('funds older than the payment at an address of an extended public key do not count', async () => {
    const all = await payments(4);
    const [, younger, older, earlier] = all as [Written, Written, Written, Written];
    await quiet.tamper(younger.id, ofKey('clock_timestamp()', 3));
    await quiet.tamper(older.id, ofKey('created_at', 3));
    await quiet.tamper(earlier.id, ofKey('clock_timestamp()', null));
    const coming = all.flatMap(({ address: to }) => [
      { to, amount: 8n },
      { to, amount: 9n, contract: null },
    ]);
    await begin(makeBlocks(genesis, 'a', 3, { 1: coming }));
    const both = [{ at: 1 }, { at: 1 }];
    expect(await Promise.all(all.map(counted))).toEqual([both, [], both, []]);
  });

  test('but they do in a block that was mined after the creation, although its time is older', async () => {
    const [payment] = (await payments(1)) as [Written];
    await quiet.tamper(payment.id, ofKey('clock_timestamp()', 1));
    const coming = [{ to: payment.address, amount: 8n }];
    await begin(makeBlocks(genesis, 'a', 4, { 1: coming, 2: coming }));
    expect(await counted(payment)).toEqual([{ at: 2 }]);
  });
});

describe('one payment that cannot be decided', () => {
  /** Inserts an event with the next sequence, as a foreign writer would. */
  const block = (accountId: string, id: string) =>
    quiet.context.db.script(`insert into events (account_id, environment, id, payment_id, sequence, type, status,
        previous_status, body, created_at)
      values ('${accountId}', 'sandbox', 'evt_' || right('${id}', 26), '${id}', 2, 'payment.stray', 'pending',
        'pending', '{}', now())`);

  test.each([0, 3, 6])('leaves the others of its block alone, and is tried again: number %i of 7', async at => {
    const { account, written } = await quiet.overdue(7, contract);
    const bad = written[at]!;
    await block(account.id, bad.id);
    const coming = written.map(({ address }, index) => ({ to: address, amount: BigInt(index + 1) }));
    await begin(makeBlocks(genesis, 'a', 3, { 1: coming }));
    expect(await quiet.statuses(account.id)).toEqual({ pending: 1, completed: 6 });
    expect(await statusOf(bad.id)).toEqual({ status: 'pending', received: '0' });
    expect(await quiet.read(`select 1 as n from transfers where payment_id = '${bad.id}'`), 'a fact').toHaveLength(1);
    expect(quiet.errors.map(({ fields }) => fields.paymentId)).toEqual([bad.id]);
    const text = `select wake_at > clock_timestamp() and wake_at < clock_timestamp() + interval '2 minutes' as soon
      from payments where id = '${bad.id}'`;
    expect(await quiet.read(text)).toEqual([{ soon: true }]);
  });

  test('alone in its block, it does not hold up the chain', async () => {
    const { account, written } = await quiet.overdue(1, contract);
    await block(account.id, written[0]!.id);
    await begin(makeBlocks(genesis, 'a', 3, { 1: [{ to: written[0]!.address, amount: 1n }] }));
    expect(await quiet.read('select latest_number::text as latest from chains')).toEqual([{ latest: '2' }]);
  });
});
