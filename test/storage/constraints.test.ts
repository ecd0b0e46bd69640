import { beforeAll, describe, expect, test } from 'vitest';
import { isLegalEdge, legalEdges, type PaymentStatus, paymentStatuses } from '../../src/core/payment/states.ts';
import { type Columns, openRows, type Rows, refusal } from './rows.ts';

let rows: Rows;
let account: string;
beforeAll(async () => {
  rows = await openRows();
  account = await rows.account();
});

const pairs = paymentStatuses.flatMap(from => paymentStatuses.map(to => [from, to] as const));
const both = { completed_at: `'2026-01-31T12:30:00Z'`, canceled_at: `'2026-01-31T12:30:00Z'` };

const refused = (work: Promise<unknown>, code: string): Promise<void> => expect(work).rejects.toMatchObject({ code });

describe('status edges', () => {
  test('the statuses of the database are those of the code', async () => {
    const [row] = await rows.read('select enum_range(null::payment_status)::text[] as all');
    expect(row!.all).toEqual([...paymentStatuses]);
  });

  test('legal_edge is legalEdges', async () => {
    const found =
      await rows.read(`select a::text as from, b::text as to from unnest(enum_range(null::payment_status)) a,
      unnest(enum_range(null::payment_status)) b where legal_edge(a, b)`);
    const listed = Object.entries(legalEdges).flatMap(([from, tos]) => tos.map(to => `${from} ${to}`));
    expect(found.map(({ from, to }) => `${from} ${to}`).sort()).toEqual(listed.sort());
  });

  test.each(pairs)('a payment may go from %s to %s exactly where the code says so', async (from, to) => {
    const id = await rows.payment(account, { status: `'${from}'`, ...both });
    const work = rows.run(`update payments set status = '${to}' where id = '${id}'`);
    if (from === to || isLegalEdge(from, to)) await work;
    else await refused(work, refusal.ours);
    const [row] = await rows.read(`select status from payments where id = '${id}'`);
    expect(row!.status).toBe(from === to || isLegalEdge(from, to) ? to : from);
  });

  test.each(pairs)('an event may tell of %s to %s exactly where the code says so', async (from, to) => {
    const id = await rows.payment(account);
    const columns = { sequence: '2', type: `'t'`, status: `'${to}'`, previous_status: `'${from}'` };
    const work = rows.event(account, id, columns);
    if (from === to || isLegalEdge(from, to)) await work;
    else await refused(work, refusal.check);
  });

  test('completed and reversed need completed_at, canceled needs canceled_at', async () => {
    const bare: PaymentStatus[] = ['completed', 'reversed', 'canceled'];
    for (const status of bare) await refused(rows.payment(account, { status: `'${status}'` }), refusal.check);
  });
});

describe('amounts', () => {
  const columns = ['amount', 'amount_received', 'amount_confirmed', 'amount_accepted'];
  const values = ["'NaN'", "'Infinity'", "'-Infinity'", '-1', '1e54 + 1', '1e59', '1e60', '1e100'];
  test.each(columns.flatMap(column => values.map(value => [column, value])))(
    '%s = %s is refused',
    async (column, value) => {
      const moment: Columns = column === 'amount_accepted' ? { accepted_at: 'now()' } : {};
      const error = await rows.payment(account, { ...moment, [column!]: value! }).then(
        () => null,
        (each: { code: string }) => each.code,
      );
      expect([refusal.check, refusal.outOfRange]).toContain(error);
      const id = await rows.payment(account);
      const set = Object.entries({ ...moment, [column!]: value! }).map(([name, sql]) => `${name} = ${sql}`);
      const later = await rows.run(`update payments set ${set.join(', ')} where id = '${id}'`).then(
        () => null,
        (each: { code: string }) => each.code,
      );
      expect([refusal.check, refusal.outOfRange, refusal.ours]).toContain(later);
    },
  );

  test('zero may be received but neither asked for nor accepted', async () => {
    await refused(rows.payment(account, { amount: '0' }), refusal.check);
    await refused(rows.payment(account, { amount_accepted: '0', accepted_at: 'now()' }), refusal.check);
    await rows.payment(account, { amount_received: '0', amount_confirmed: '0' });
  });

  test('the largest amount of the most divisible token fits', async () => {
    const id = await rows.payment(account, { amount: '1e54' });
    const [row] = await rows.read(`select amount from payments where id = '${id}'`);
    expect(row!.amount).toBe(`1${'0'.repeat(54)}`);
  });

  test('no more can be confirmed than was received', async () => {
    await refused(rows.payment(account, { amount_received: '5', amount_confirmed: '6' }), refusal.check);
    await rows.payment(account, { amount_received: '5', amount_confirmed: '5' });
  });

  test('a sum is accepted together with the moment, or not at all', async () => {
    await refused(rows.payment(account, { amount_accepted: '5' }), refusal.check);
    await refused(rows.payment(account, { accepted_at: 'now()' }), refusal.check);
    await rows.payment(account, { amount_accepted: '5', accepted_at: 'now()' });
  });
});

describe('tenants', () => {
  const owned = (accountId: string, environment = 'sandbox') => ({
    account_id: `'${accountId}'`,
    environment: `'${environment}'`,
  });
  const delivery = (owner: object, eventId: string, target: { endpoint_id?: string; callback_url?: string }) =>
    rows.insert('deliveries', {
      ...(owner as Record<string, string>),
      id: `delivery_id('${eventId}', ${target.endpoint_id ?? "'callback'"})`,
      event_id: `'${eventId}'`,
      next_attempt_at: 'now()',
      created_at: 'now()',
      ...target,
    });

  test('an event belongs to a payment of its own account and environment', async () => {
    const other = await rows.account();
    const id = await rows.payment(account);
    await refused(rows.event(other, id), refusal.foreignKey);
    await refused(rows.event(account, id, { environment: `'production'` }), refusal.foreignKey);
    await rows.event(account, id);
  });

  test('an event without a payment belongs to an account that exists', async () => {
    const sample = { payment_id: 'null', sequence: 'null', status: 'null', type: `'payment.test'` };
    await rows.event(account, '', sample);
    await refused(rows.event('acc_00000000000000000000000000', '', sample), refusal.foreignKey);
  });

  test('a delivery belongs to an event and an endpoint of its own account and environment', async () => {
    const other = await rows.account();
    const event = await rows.event(account, await rows.payment(account));
    const [mine, foreign] = [await rows.endpoint(account), await rows.endpoint(other)];
    const live = await rows.endpoint(account, { environment: `'production'` });
    await refused(delivery(owned(account), event, { endpoint_id: `'${foreign}'` }), refusal.foreignKey);
    await refused(delivery(owned(account), event, { endpoint_id: `'${live}'` }), refusal.foreignKey);
    await refused(delivery(owned(other), event, { endpoint_id: `'${foreign}'` }), refusal.foreignKey);
    await refused(delivery(owned(account, 'production'), event, { endpoint_id: `'${live}'` }), refusal.foreignKey);
    await delivery(owned(account), event, { endpoint_id: `'${mine}'` });
  });

  test('one event goes to one target once', async () => {
    const event = await rows.event(account, await rows.payment(account));
    const endpoint_id = `'${await rows.endpoint(account)}'`;
    await delivery(owned(account), event, { endpoint_id });
    await refused(delivery(owned(account), event, { endpoint_id }), refusal.unique);
    const callback_url = `'https://merchant.example/'`;
    await delivery(owned(account), event, { callback_url });
    await refused(delivery(owned(account), event, { callback_url }), refusal.unique);
    // Another callback URL of the same event is the same target, and an id that is not derived is refused.
    await refused(delivery(owned(account), event, { callback_url: `'https://other.example/'` }), refusal.unique);
    const own = { ...owned(account), id: `'dlv_${'0'.repeat(26)}'`, event_id: `'${event}'`, callback_url };
    const times = { next_attempt_at: 'now()', created_at: 'now()' };
    await refused(rows.insert('deliveries', { ...own, ...times }), refusal.ours);
  });

  test('a delivery has exactly one target, a time exactly while it is scheduled, and an end or a claim', async () => {
    const event = await rows.event(account, await rows.payment(account));
    const endpoint_id = `'${await rows.endpoint(account)}'`;
    await refused(delivery(owned(account), event, {}), refusal.check);
    await refused(delivery(owned(account), event, { callback_url: `'nowhere'` }), refusal.ours);
    await refused(
      delivery(owned(account), event, { endpoint_id, callback_url: `'https://x.example/'` }),
      refusal.check,
    );
    await delivery(owned(account), event, { endpoint_id });
    const where = `where event_id = '${event}'`;
    await refused(rows.run(`update deliveries set next_attempt_at = null ${where}`), refusal.check);
    await refused(rows.run(`update deliveries set status = 'succeeded' ${where}`), refusal.check);
    await refused(rows.run(`update deliveries set finished_at = now() ${where}`), refusal.check);
    const over = 'next_attempt_at = null, finished_at = now()';
    await refused(
      rows.run(`update deliveries set status = 'succeeded', next_attempt_at = null ${where}`),
      refusal.check,
    );
    await refused(rows.run(`update deliveries set status = 'parked', ${over} ${where}`), refusal.check);
    await refused(
      rows.run(`update deliveries set status = 'succeeded', parked_reason = 'gone', ${over} ${where}`),
      refusal.check,
    );
    await rows.run(`update deliveries set claimed_by = 'me', claimed_until = now() ${where}`);
    await refused(rows.run(`update deliveries set claimed_by = null ${where}`), refusal.check);
    await refused(rows.run(`update deliveries set status = 'succeeded', ${over} ${where}`), refusal.check);
    const free = 'claimed_by = null, claimed_until = null';
    await rows.run(`update deliveries set status = 'succeeded', ${over}, ${free} ${where}`);
    await rows.run(`update deliveries set status = 'parked', parked_reason = 'gone' ${where}`);
  });

  test('an account with payments cannot be deleted, nor a payment with events', async () => {
    const id = await rows.payment(account);
    await rows.event(account, id);
    await refused(rows.run(`delete from accounts where id = '${account}'`), refusal.foreignKey);
    await refused(rows.run(`delete from payments where id = '${id}'`), refusal.foreignKey);
  });

  test('an address belongs to one payment, whatever the account and environment', async () => {
    const address = `'0xonce'`;
    await rows.payment(account, { address });
    await refused(rows.payment(account, { address }), refusal.excluded);
    await refused(rows.payment(await rows.account(), { address, environment: `'production'` }), refusal.excluded);
  });

  test('externalId is unique per account and environment', async () => {
    const external_id = `'order'`;
    await rows.payment(account, { external_id });
    await refused(rows.payment(account, { external_id }), refusal.unique);
    await rows.payment(account, { external_id, environment: `'production'` });
    await rows.payment(await rows.account(), { external_id });
  });
});
