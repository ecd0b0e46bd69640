import { beforeAll, describe, expect, test } from 'vitest';
import { openRows, type Rows, refusal } from './rows.ts';

let rows: Rows;
let account: string;
beforeAll(async () => {
  rows = await openRows();
  account = await rows.account();
});

const refused = (work: Promise<unknown>, code: string): Promise<void> => expect(work).rejects.toMatchObject({ code });

describe('the terms of a payment are frozen', () => {
  test.each([
    ['id', `'pay_${'9'.repeat(26)}'`],
    ['environment', `'production'`],
    ['amount', '1'],
    ['decimals', '3'],
    ['currency', `'DAI'`],
    ['network', `'bsc'`],
    ['caip2', `'eip155:1'`],
    ['contract', `'0xother'`],
    ['address', `'0xother'`],
    ['wallet_kind', `'xpub'`],
    ['treasury', `'0xother'`],
    ['derivation_index', '7'],
    ['tiers', `'[{"atLeast":"0","kind":"depth","depth":1}]'`],
    ['tolerance_bps', '500'],
    ['dust_floor', '1'],
    ['late_policy', `'manual'`],
    ['late_window_seconds', '1'],
    ['metadata', `'{"a":1}'`],
    ['external_id', `'another'`],
    ['head_number', '1'],
    ['created_at', `'2026-01-31T12:00:00.001Z'`],
  ])('%s', async (column, value) => {
    const id = await rows.payment(account);
    await refused(rows.run(`update payments set ${column} = ${value} where id = '${id}'`), refusal.ours);
  });

  test('account_id', async () => {
    const id = await rows.payment(account);
    const other = await rows.account();
    await refused(rows.run(`update payments set account_id = '${other}' where id = '${id}'`), refusal.ours);
  });

  test('but not its MAC, which a rotation of the master key makes anew', async () => {
    const id = await rows.payment(account);
    await rows.run(`update payments set mac = decode(repeat('11', 32), 'hex') where id = '${id}'`);
  });

  test('but not what facts change', async () => {
    const id = await rows.payment(account);
    await rows.run(`update payments set status = 'confirming', exception = 'overpaid', amount_received = 9,
      amount_confirmed = 9, sequence = 3, wake_at = now() where id = '${id}'`);
    await rows.run(`update payments set status = 'completed', completed_at = now() where id = '${id}'`);
  });

  test('and its texts, which can only go, once it has ended', async () => {
    const id = await rows.payment(account, { description: `'Zoë'`, external_id: `'7'`, metadata: `'{"a":1}'` });
    const blank = `update payments set description = null, metadata = '{}', external_id = null where id = '${id}'`;
    await refused(rows.run(blank), refusal.ours);
    await rows.run(`update payments set status = 'expired' where id = '${id}'`);
    for (const other of [
      `description = ''`,
      `metadata = '{"a":2}'`,
      `external_id = '8'`,
      `redirect_url = 'https://a.example'`,
    ]) {
      await refused(rows.run(`update payments set ${other} where id = '${id}'`), refusal.ours);
    }
    await rows.run(blank);
    await refused(rows.run(`update payments set description = 'Zoë' where id = '${id}'`), refusal.ours);
  });

  test('canceled_at is set once', async () => {
    const id = await rows.payment(account);
    await rows.run(`update payments set status = 'canceled', canceled_at = now() where id = '${id}'`);
    const later = `update payments set canceled_at = now() + interval '1 second' where id = '${id}'`;
    await refused(rows.run(later), refusal.ours);
    await refused(rows.run(`update payments set canceled_at = null where id = '${id}'`), refusal.ours);
  });

  test('sequence never counts down', async () => {
    const id = await rows.payment(account, { sequence: '5' });
    await refused(rows.run(`update payments set sequence = 4 where id = '${id}'`), refusal.ours);
    await rows.run(`update payments set sequence = 5 where id = '${id}'`);
    await rows.run(`update payments set sequence = 6 where id = '${id}'`);
  });
});

describe('the shape of a payment', () => {
  test.each([
    ['expires_at', `'2026-01-31T12:00:00Z'`],
    ['id', `'we_${'0'.repeat(26)}'`],
    ['id', `'pay_short'`],
    ['decimals', '-1'],
    ['decimals', '37'],
    ['currency', `''`],
    ['network', `''`],
    ['wallet_kind', `'mnemonic'`],
    ['derivation_index', '-1'],
    ['mac', `decode('00', 'hex')`],
    ['tiers', `'[]'`],
    ['tolerance_bps', '501'],
    ['tolerance_bps', '-1'],
    ['late_policy', `'never'`],
    ['late_window_seconds', '-1'],
    ['description', `repeat('x', 1001)`],
    ['metadata', `repeat('x', 16385)`],
    ['metadata', `repeat('é', 8193)`],
    ['callback_url', `repeat('x', 2049)`],
    ['redirect_url', `repeat('x', 2049)`],
    ['external_id', `''`],
    ['external_id', `repeat('x', 256)`],
    ['sequence', '0'],
  ])('%s = %s is refused', async (column, value) => {
    await refused(rows.payment(account, { [column]: value }), refusal.check);
  });

  test.each(['address', 'treasury', 'mac', 'metadata', 'created_at', 'expires_at', 'amount'])(
    '%s is never null',
    column => refused(rows.payment(account, { [column]: 'null' }), refusal.notNull),
  );

  test('times have milliseconds', async () => {
    const id = await rows.payment(account, { created_at: `'2026-01-31T12:00:00.1234567Z'` });
    const [row] = await rows.read(
      `select extract(microseconds from created_at)::int as us from payments where id = '${id}'`,
    );
    expect(row!.us).toBe(123_000);
  });
});

describe('events', () => {
  test.each([
    ['body', `'{"forged":true}'`],
    ['type', `'payment.completed'`],
    ['sequence', '2'],
    ['status', `'completed'`],
    ['created_at', 'now()'],
    ['body', 'body'],
  ])('%s cannot be changed to %s', async (column, value) => {
    const id = await rows.event(account, await rows.payment(account));
    await refused(rows.run(`update events set ${column} = ${value} where id = '${id}'`), refusal.ours);
  });

  test('one of each number in a history', async () => {
    const id = await rows.payment(account);
    await rows.event(account, id);
    await refused(rows.event(account, id), refusal.unique);
    const second = { sequence: '2', type: `'t'`, previous_status: `'pending'` };
    await rows.event(account, id, second);
    await refused(rows.event(account, id, second), refusal.unique);
    await refused(rows.event(account, id, { ...second, sequence: '0' }), refusal.check);
  });

  test('only the creation, which is the first, has nothing before it', async () => {
    const id = await rows.payment(account);
    await refused(rows.event(account, id, { sequence: '2' }), refusal.check);
    await refused(rows.event(account, id, { type: `'payment.expired'` }), refusal.check);
  });

  test('of no payment have neither number nor status', async () => {
    const bare = { payment_id: 'null', sequence: 'null', status: 'null', type: `'webhook.test'` };
    await rows.event(account, '', bare);
    await refused(rows.event(account, '', { ...bare, sequence: '1' }), refusal.check);
    await refused(rows.event(account, '', { ...bare, status: `'pending'` }), refusal.check);
  });
});

test('a derivation counter only goes forward', async () => {
  await rows.insert('derivation_counters', { series: `'s'`, next: '10' });
  await refused(rows.run(`update derivation_counters set next = 9 where series = 's'`), refusal.ours);
  await rows.run(`update derivation_counters set next = 11 where series = 's'`);
  await refused(rows.insert('derivation_counters', { series: `'t'`, next: '-1' }), refusal.check);
});

describe('totals', () => {
  const key = { status: `'pending'`, currency: `'USDC'`, network: `'base'`, day: `'2026-01-31'` };
  const total = (columns: Record<string, string>) =>
    rows.insert('payment_totals', {
      account_id: `'${account}'`,
      environment: `'sandbox'`,
      exception: `''`,
      ...key,
      ...columns,
    });

  test('never go below zero and have 24 hours', async () => {
    await refused(total({ count: '-1', hours: 'array_fill(0, array[24])' }), refusal.check);
    await refused(total({ count: '0', hours: 'array_fill(-1, array[24])' }), refusal.check);
    await refused(total({ count: '0', hours: 'array_fill(0, array[23])' }), refusal.check);
    await total({ count: '0', hours: 'array_fill(0, array[24])' });
    await refused(total({ count: '1', hours: 'array_fill(0, array[24])' }), refusal.unique);
  });

  test('are told of whole hours', async () => {
    const delta = { account_id: `'${account}'`, environment: `'sandbox'`, ...key, change: '1' };
    const { day: _, ...columns } = delta;
    await refused(rows.insert('payment_deltas', { ...columns, hour: `'2026-01-31T12:00:00.001Z'` }), refusal.check);
    await rows.insert('payment_deltas', { ...columns, hour: `'2026-01-31T12:00:00Z'` });
  });
});

test('an idempotency key is kept with an answer or held until a time', async () => {
  const columns = {
    account_id: `'${account}'`,
    environment: `'sandbox'`,
    route: `'POST /v1/payments'`,
    key: `'k'`,
    body_hash: `decode(repeat('00', 32), 'hex')`,
    resource_id: `''`,
    created_at: 'now()',
  };
  const insert = (more: Record<string, string>) => rows.insert('idempotency_keys', { ...columns, ...more });
  await refused(insert({}), refusal.check);
  await refused(insert({ status: '200' }), refusal.check);
  await refused(insert({ response: `'{}'`, held_until: 'now()' }), refusal.check);
  await refused(insert({ status: '200', response: `'{}'`, sealed_response: `''` }), refusal.check);
  await refused(insert({ status: '199', response: `'{}'` }), refusal.check);
  await insert({ status: '200', response: `'{}'` });
  await refused(insert({ held_until: 'now()' }), refusal.unique);
});
