import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { foldTotals } from '../../src/storage/payments/totals.ts';
import { until } from '../support/until.ts';
import { expectRefused, startMoneyScene } from './moneyScene.ts';

const scene = await startMoneyScene();
const { dashboard, owner, calls, chain } = scene;
const { db } = dashboard.scene.admin;

type Query = Record<string, string | number>;
const list = (query: Query = {}) => owner.do('GET /payments', { query });
const idsOf = async (query: Query) => (await list(query)).data.map(payment => payment.id);

const under = await scene.make({ amount: '8', network: 'polygon' });
await scene.simulate(under.id, 'underpaid', 'pending');
const over = await scene.make({ amount: '8' });
await scene.simulate(over.id, 'overpaid', 'completed');
const plain = await scene.paid({ amount: '2', currency: 'DAI' });
const named = await calls.made({ externalId: 'order "7", gold', metadata: { big: 1 } });

describe('the list', () => {
  test('is what the API shows of the same payments, newest first', async () => {
    // A block between two reads changes the confirmations: only an API that answers the same before and after counts.
    const api = async () => (await calls.list('limit=100')).json;
    const { json, shown } = await until(
      async () => ({ json: await api(), shown: await list({ limit: 100 }), after: await api() }),
      answers => isDeepStrictEqual(answers.json, answers.after),
    );
    const { hasMore: _, ...pagination } = json.pagination;
    expect(shown).toEqual({ data: json.data, pagination, searched: null });
    expect(shown.data.map(({ id }) => id)).toEqual([named.id, plain.id, over.id, under.id]);
    expect((await list({ limit: 1, offset: 3 })).data.map(({ id }) => id)).toEqual([under.id]);
  });

  const filtered: [Query, string[]][] = [
    [{ status: 'completed' }, [plain.id, over.id]],
    [{ exception: 'underpaid' }, [under.id]],
    [{ exception: 'overpaid' }, [over.id]],
    [{ exception: 'overpaid', status: 'pending' }, []],
    [{ exception: 'underpaid', status: 'pending', network: 'polygon', currency: 'usdc' }, [under.id]],
    [{ currency: 'dai' }, [plain.id]],
    [{ network: 'polygon' }, [under.id]],
    [{ to: '2020-01-01' }, []],
    [{ from: '2020-01-01', exception: 'underpaid' }, [under.id]],
  ];
  test.each(filtered)('%o shows these and their exact number, folded or not', async (query, ids) => {
    for (const folded of [0, 3, 1_000]) {
      await foldTotals(db, Math.max(folded, 1));
      const { data, pagination } = await list(query);
      expect([data.map(({ id }) => id), pagination.total]).toEqual([ids, ids.length]);
    }
  });

  test('filters that say nothing are refused', async () => {
    const wrong: [Query, string][] = [
      [{ status: 'paid' }, 'status'],
      [{ exception: 'none' }, 'exception'],
      [{ from: 'yesterday' }, 'from'],
      [{ limit: 101 }, 'limit'],
      [{ limit: 'x' }, 'limit'],
      [{ offset: -1 }, 'offset'],
      [{ search: 'x'.repeat(256) }, 'search'],
      [{ other: '1' }, 'other'],
    ];
    for (const [query, param] of wrong) {
      await expectRefused(owner.call('GET /payments', { query }), 400, 'invalid_request', param);
    }
  });

  test('totals by exception follow a payment through its states', async () => {
    const payment = await scene.make({ amount: '6', network: 'bsc' });
    const total = async (query: Query) => (await list({ network: 'bsc', ...query })).pagination.total;
    expect([await total({}), await total({ exception: 'underpaid' })]).toEqual([1, 0]);
    await owner.do('POST /payments/:id/simulate', { params: { id: payment.id }, body: { outcome: 'underpaid' } });
    await until(
      () => total({ exception: 'underpaid' }),
      count => count === 1,
    );
    await foldTotals(db, 1_000);
    await scene.simulate(payment.id, 'paid', 'completed');
    const query = { exception: 'underpaid' };
    expect([await total({}), await total(query), await total({ status: 'completed' })]).toEqual([1, 0, 1]);
    await foldTotals(db, 1_000);
    expect([await total({}), await total(query), await total({ status: 'completed' })]).toEqual([1, 0, 1]);
  });
});

describe('the search', () => {
  test('finds by id, address in any spelling, externalId and transaction, exactly', async () => {
    const { payment } = await owner.do('GET /payments/:id', { params: { id: plain.id } });
    const { address } = payment;
    const hash = payment.transactions[0]!.hash!;
    for (const search of [
      plain.id,
      address,
      address.toLowerCase(),
      ` ${address} `,
      hash,
      hash.toUpperCase().replace('0X', '0x'),
    ]) {
      expect(await idsOf({ search }), search).toEqual([plain.id]);
    }
    expect(await idsOf({ search: 'order "7", gold' })).toEqual([named.id]);
    for (const search of [plain.id.slice(0, -1), '%', `${address}0`, "' or 1=1 --"]) {
      expect(await list({ search })).toMatchObject({ data: [], pagination: { total: 0 } });
    }
  });

  test('heeds the filters, and finds what a transaction swept', async () => {
    expect(await idsOf({ search: plain.id, status: 'pending' })).toEqual([]);
    expect(await idsOf({ search: plain.id, status: 'completed', currency: 'DAI', from: '2020-01-01' })).toEqual([
      plain.id,
    ]);
    expect(await idsOf({ search: plain.id, to: '2020-01-01' })).toEqual([]);
    const { transactions } = await scene.plan({ network: 'base', currency: 'DAI' });
    const { transactionHash } = await chain.send({ to: transactions[0]!.to, data: transactions[0]!.data });
    await until(
      () => idsOf({ search: transactionHash }),
      ids => ids.length > 0,
    );
    expect(await idsOf({ search: transactionHash })).toEqual([plain.id]);
  });

  test('finds nothing of another account or environment', async () => {
    const stranger = await dashboard.newPerson('owner', (await dashboard.scene.account()).id);
    for (const search of [plain.id, String(plain.address), 'order "7", gold']) {
      expect((await stranger.do('GET /payments', { query: { search } })).data).toEqual([]);
      const query = { search };
      expect((await owner.do('GET /payments', { environment: 'production', query })).data).toEqual([]);
    }
  });
});

describe('what people do', () => {
  test('a payment is created as by the API, and canceled once, which is on record', async () => {
    const made = await scene.make({ amount: '1.5', description: 'At the counter' });
    expect(made).toMatchObject({ status: 'pending', amount: '1.50', description: 'At the counter', metadata: {} });
    const params = { id: made.id };
    expect(await owner.do('POST /payments/:id/cancel', { params })).toMatchObject({ id: made.id, status: 'canceled' });
    await expectRefused(owner.call('POST /payments/:id/cancel', { params }), 409, 'conflict');
    const rows = await scene.sql(
      `select action, actor_name, environment from audit_log where subject = '${made.id}' order by sequence`,
    );
    expect(rows).toEqual([
      { action: 'payment.canceled', actor_name: 'Owner 1 <owner1@example.com>', environment: 'sandbox' },
    ]);
    const { timeline } = await owner.do('GET /payments/:id', { params });
    const acted = timeline.filter(({ kind }) => kind === 'action');
    expect(acted).toMatchObject([
      { title: 'Owner 1 <owner1@example.com> canceled the payment.', refs: { actor: 'Owner 1 <owner1@example.com>' } },
    ]);
  });

  test('what cannot be made or is not there is refused, and leaves no word', async () => {
    const count = () => scene.sql<{ n: number }>('select count(*)::int as n from audit_log');
    const before = await count();
    const body = { amount: '25', currency: 'USDC', network: 'base' };
    const make = (fields: object) => owner.call('POST /payments', { body: { ...body, ...fields } });
    await expectRefused(make({ amount: '-1' }), 400, 'invalid_request', 'amount');
    await expectRefused(make({ currency: 'NOPE' }), 400, 'invalid_request', 'currency');
    await expectRefused(make({ network: 'nowhere' }), 400, 'invalid_request', 'network');
    await expectRefused(make({ externalId: 'x' }), 400, 'invalid_request', 'externalId');
    const live = owner.call('POST /payments', { environment: 'production', body });
    await expectRefused(live, 503, 'network_unavailable');
    for (const id of [`pay_${'0'.repeat(26)}`, 'x']) {
      await expectRefused(owner.call('POST /payments/:id/cancel', { params: { id } }), 404, 'not_found');
      const seen = { expectedAmount: '1.00' };
      await expectRefused(owner.call('POST /payments/:id/resolve', { params: { id }, body: seen }), 404, 'not_found');
      const body = { outcome: 'paid' };
      await expectRefused(owner.call('POST /payments/:id/simulate', { params: { id }, body }), 404, 'not_found');
      await expectRefused(owner.call('GET /payments/:id', { params: { id } }), 404, 'not_found');
    }
    const params = { id: named.id };
    await expectRefused(
      owner.call('POST /payments/:id/simulate', { params, body: { outcome: 'rich' } }),
      400,
      'invalid_request',
      'outcome',
    );
    const seen = { expectedAmount: '1.00' };
    await expectRefused(owner.call('POST /payments/:id/resolve', { params, body: seen }), 409, 'conflict');
    expect(await count()).toEqual(before);
  });

  test('nobody acts on the payment of another account', async () => {
    const stranger = await dashboard.newPerson('owner', (await dashboard.scene.account()).id);
    const params = { id: named.id };
    await expectRefused(stranger.call('POST /payments/:id/cancel', { params }), 404, 'not_found');
    await expectRefused(stranger.call('GET /payments/:id', { params }), 404, 'not_found');
    expect((await owner.do('GET /payments/:id', { params })).payment.status).toBe('pending');
  });
});

test('a payment that was changed in the database is shown nowhere', async () => {
  const victim = await scene.make({ amount: '3' });
  await db.script(`begin; alter table payments disable trigger payments_frozen;
    update payments set address = '0xbadc0debadc0debadc0debadc0debadc0debadc0' where id = '${victim.id}';
    alter table payments enable trigger payments_frozen; commit`);
  await expectRefused(owner.call('GET /payments/:id', { params: { id: victim.id } }), 500, 'internal_error');
  await expectRefused(owner.call('GET /payments', { query: { limit: 1 } }), 500, 'internal_error');
  await expectRefused(owner.call('GET /payments', { query: { search: victim.id } }), 500, 'internal_error');
  const file = await owner.call('GET /payments.csv');
  const lines = file.text.split('\r\n');
  expect(lines.find(line => line.startsWith(victim.id))).toBe(`${victim.id},tampered${','.repeat(13)}`);
  expect(file.text).not.toMatch(/badc0de/i);
});
