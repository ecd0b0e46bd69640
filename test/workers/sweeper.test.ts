import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { duePayments } from '../../src/storage/payments/duePayments.ts';
import { sweep } from '../../src/workers/sweeper.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});
beforeEach(async () => {
  // Each test has its own payments. Those of earlier tests are not due.
  await quiet.scene.admin.db.script('delete from network_status; update payments set wake_at = null');
  quiet.errors.length = 0;
  await quiet.caughtUp();
});

const sweepAll = async (): Promise<void> => {
  while (await sweep(quiet.context)) expect(quiet.errors.length).toBeLessThan(10);
};

type State = { status: string; sequence: number; postponed: boolean; events: number };
const stateOf = async (id: string): Promise<State> => {
  const [state] = await quiet.read<State>(`select status, sequence,
      wake_at > clock_timestamp() + interval '30 seconds' as postponed,
      (select count(*)::int from events where payment_id = p.id) as events from payments p where id = '${id}'`);
  return state!;
};
const waiting: State = { status: 'pending', sequence: 1, postponed: true, events: 1 };
const told = () =>
  quiet.errors
    .filter(({ message }) => message === 'a due payment could not be advanced')
    .map(({ fields }) => fields.paymentId);

describe('one payment that cannot be decided does not stop the others', () => {
  test.each([
    ['tiers that are no numbers', `tiers = '[{"atLeast":"much","kind":"depth","depth":2}]'`],
    ['a rule by depth without a depth', `tiers = '[{"atLeast":"0","kind":"depth","depth":null}]'`],
    ['an address that is not its own', `address = '0xbadc0de' || right(address, 33)`],
  ])('%s', async (_, assignment) => {
    const { account, ids } = await quiet.overdue(5);
    const bad = ids[0]!;
    await quiet.tamper(bad, assignment);
    await sweepAll();
    expect(await quiet.statuses(account.id)).toEqual({ pending: 1, expired: 4 });
    expect(await stateOf(bad)).toEqual(waiting);
    expect(told()).toEqual([bad]);
    await sweepAll();
    expect(told(), 'it is not tried again at once').toEqual([bad]);
    expect(await quiet.read(`select id from events where body like '%0xbadc0de%'`)).toEqual([]);
  });

  test('a row that the database refuses to write', async () => {
    const { account, ids } = await quiet.overdue(7);
    const bad = ids[3]!;
    await quiet.scene.admin.db.script(`insert into events (account_id, environment, id, payment_id, sequence, type, status,
        previous_status, body, created_at)
      values ('${account.id}', 'sandbox', 'evt_' || right('${bad}', 26), '${bad}', 2, 'payment.stray', 'pending',
        'pending', '{}', now())`);
    await sweepAll();
    expect(await quiet.statuses(account.id)).toEqual({ pending: 1, expired: 6 });
    expect(await stateOf(bad)).toEqual({ ...waiting, events: 2 });
    expect(told()).toEqual([bad]);
  });

  test('and goes on itself once it is repaired and its turn comes again', async () => {
    const { ids } = await quiet.overdue(1);
    const [id] = ids as [string];
    const [{ tiers }] = (await quiet.read(`select tiers::text from payments where id = '${id}'`)) as [
      { tiers: string },
    ];
    await quiet.tamper(id, `tiers = '[{"atLeast":"much","kind":"depth","depth":2}]'`);
    await sweepAll();
    await quiet.tamper(id, `tiers = '${tiers}', wake_at = expires_at`);
    await sweepAll();
    expect(await stateOf(id)).toEqual({ status: 'expired', sequence: 2, postponed: null, events: 2 });
  });
});

test("a chain's backlog leaves the others their share, and that of coins the tokens'", async () => {
  await quiet.caughtUp();
  const backlog = await quiet.overdue(250, null);
  const small = await quiet.overdue(3, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913');
  expect(await sweep(quiet.context), 'there is more').toBe(true);
  expect(await quiet.statuses(small.account.id)).toEqual({ expired: 3 });
  expect(await quiet.statuses(backlog.account.id)).toEqual({ pending: 50, expired: 200 });
  await sweepAll();
  expect(await quiet.statuses(backlog.account.id)).toEqual({ expired: 250 });
});

test('time passes only by the chain a payment was made for, not by one that took its slug', async () => {
  await quiet.scene.admin.db.script('update chains set caught_up_at = null, coins_caught_up_at = null');
  await quiet.caughtUp('eip155:8453');
  const { account } = await quiet.overdue(3);
  expect(await duePayments(quiet.context.db, 10)).toEqual([]);
  await sweepAll();
  expect(await quiet.statuses(account.id)).toEqual({ pending: 3 });
  await quiet.caughtUp();
  await sweepAll();
  expect(await quiet.statuses(account.id)).toEqual({ expired: 3 });
});

test('a payment that somebody holds is left for later, without waiting and without spinning', async () => {
  const { account, ids } = await quiet.overdue(3);
  const hold = { name: 'test-hold', text: 'select from payments where id = $1 for update' };
  await quiet.scene.admin.db.transaction(async tx => {
    await tx.query(hold, [ids[1]]);
    expect(await sweep(quiet.context)).toBe(false);
    expect(await quiet.statuses(account.id)).toEqual({ pending: 1, expired: 2 });
  });
  await sweepAll();
  expect(await quiet.statuses(account.id)).toEqual({ expired: 3 });
  expect(quiet.errors).toEqual([]);
});

test('a batch makes each payment its own event and deliveries, and moves the totals once', async () => {
  const [one, two] = [await quiet.overdue(4), await quiet.overdue(3)];
  const subscribe = (accountId: string, digit: number, events: string): Promise<void> =>
    quiet.scene.admin.db.script(`insert into webhook_endpoints (account_id, environment, id, url, events, secret, created_at)
      values ('${accountId}', 'sandbox', 'we_' || repeat('${digit}', 26), 'https://m.example/', '{${events}}', '', now())`);
  await subscribe(one.account.id, 1, '*');
  await subscribe(one.account.id, 2, 'payment.expired');
  await subscribe(one.account.id, 3, 'payment.canceled');
  await quiet.tamper(one.ids[0]!, `callback_url = 'https://m.example/'`);
  await quiet.tamper(one.ids[1]!, `callback_url = 'https://m.example/other'`);
  await sweepAll();
  const events = await quiet.read<{
    payment_id: string;
    body: string;
    targets: string[];
  }>(`select payment_id, body, array(
      select coalesce(substr(endpoint_id, 4, 1), callback_url) from deliveries d where d.event_id = e.id order by 1
    ) as targets from events e where type = 'payment.expired' and sequence = 2
      and account_id in ('${one.account.id}', '${two.account.id}') order by account_id, payment_id`);
  expect(Object.fromEntries(events.map(event => [event.payment_id, event.targets.sort()]))).toEqual({
    ...Object.fromEntries(one.ids.map(id => [id, ['1', '2']])),
    [one.ids[1]!]: ['1', '2', 'https://m.example/other'],
    ...Object.fromEntries(two.ids.map(id => [id, []])),
  });
  for (const { payment_id, body } of events) {
    expect(JSON.parse(body)).toMatchObject({
      type: 'payment.expired',
      sequence: 2,
      data: { id: payment_id, status: 'expired' },
      previous: { status: 'pending', exception: null },
    });
  }
  for (const [{ account }, count] of [
    [one, 4],
    [two, 3],
  ] as const) {
    const text = `select status, change as count from payment_deltas where account_id = '${account.id}' order by id`;
    const moved = (await quiet.read(text)).slice(1);
    expect(moved).toHaveLength(2);
    expect(moved).toEqual(
      expect.arrayContaining([
        { status: 'pending', count: -count },
        { status: 'expired', count },
      ]),
    );
  }
});
