import { beforeAll, expect, test } from 'vitest';
import { readCallers } from '../../src/storage/access/accounts.ts';
import { insertMovements } from '../../src/storage/chain/movements.ts';
import { oldestOpenPayment } from '../../src/storage/chain/readContracts.ts';
import { recordedHeights } from '../../src/storage/chain/surplusSearch.ts';
import { knownAddresses, readTransfers } from '../../src/storage/chain/transfers.ts';
import type { Queryable, Statement } from '../../src/storage/database.ts';
import { readCheckouts, readCheckoutVersions } from '../../src/storage/payments/checkouts.ts';
import { duePayments, wakeLater } from '../../src/storage/payments/duePayments.ts';
import { insertPayments } from '../../src/storage/payments/insertPayments.ts';
import {
  lockPayments,
  readPayments,
  readPaymentVersions,
  updatePayments,
} from '../../src/storage/payments/payments.ts';
import { insertForwards } from '../../src/storage/settlement/forwards.ts';
import {
  claimDeliveries,
  lookAtTargets,
  parkClosed,
  parkDeliveries,
  releaseDeliveries,
} from '../../src/storage/webhooks/deliveries.ts';
import { recordAttempts, writeEndpointFailures } from '../../src/storage/webhooks/deliveryAttempts.ts';
import { insertEvents } from '../../src/storage/webhooks/events.ts';
import { testVault } from '../support/testVault.ts';
import { openRows, type Rows } from './rows.ts';

let rows: Rows;
beforeAll(async () => {
  rows = await openRows();
});

const key = { accountId: 'acct_1', environment: 'sandbox', id: 'pay_1' } as const;
const target = { accountId: 'acct_1', environment: 'sandbox', target: 'we_1' } as const;
const moved = { key: 'key', txHash: '0x1', from: '0x1', contract: null, amount: 1n, verified: true };
const placed = { hash: '0x1', number: 1, timestamp: 1 };
const block = { ...placed, movements: [{ ...moved, to: '0x2' }], forwards: [moved] };

/** What runs all the time. Only the statements are looked at, so that values need not make sense. */
const hot: Record<string, (db: Queryable) => Promise<unknown>> = {
  callers: db => readCallers(db, ['hash']),
  'payments by id': db => readPayments(db, [{ scope: key, id: key.id }]),
  'versions of payments': db => readPaymentVersions(db, [{ scope: key, id: key.id }]),
  'payments to change': db => lockPayments(db, [key], 'wait'),
  'payments that are due': db => duePayments(db, 10),
  'changes of payments': db => updatePayments(db, []),
  'payments that wait': db => wakeLater(db, [key], 1),
  'new payments': db => insertPayments(db, []),
  'new events': db => insertEvents(db, []),
  'pages of payments': db => readCheckouts(db, [key]),
  'versions of pages': db => readCheckoutVersions(db, [key]),
  'addresses of payments': db => knownAddresses(db, ['0x1']),
  'new transfers': db => insertMovements(db, testVault, { caip2: 'eip155:1', nowMs: 0 }, [block]),
  'new forwards': db => insertForwards(db, testVault, 'eip155:1', [block]),
  'transfers of payments': db => readTransfers(db, [key], 1),
  'the oldest open payment in a token': db => oldestOpenPayment(db, 'eip155:1', ['0x1']),
  'heights with transfers on record': db =>
    recordedHeights(db, 'eip155:1', [1], { token: '0x1', paymentIds: ['pay_1'] }),
  'targets with something due': db => lookAtTargets(db, null, 10),
  'claims of deliveries': db =>
    claimDeliveries(db, [{ ...target, first: 1, retries: 1 }], { holder: 'a', seconds: 1, since: new Date() }),
  'deliveries that are given back': db => releaseDeliveries(db, []),
  'deliveries that are parked': db => parkDeliveries(db, []),
  'deliveries of closed endpoints': db => parkClosed(db, [target], 10),
  'results of attempts': db => recordAttempts(db, []),
  'results for endpoints': db => writeEndpointFailures(db, []),
};

const statementOf = async (act: (db: Queryable) => Promise<unknown>): Promise<Statement> => {
  const asked: Statement[] = [];
  const note: Queryable = {
    query: async statement => {
      asked.push(statement);
      return [];
    },
  };
  // Some cannot do without a row, and have asked for it by then.
  await act(note).catch(() => {});
  expect(asked).toHaveLength(1);
  return asked[0]!;
};

type Plan = { 'Node Type': string; 'Relation Name'?: string; Plans?: readonly Plan[] };
type Explained = { 'QUERY PLAN': [{ Plan: Plan }] };
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** There are as many chains as there are networks. */
const few = new Set(['chains']);

// The server keeps such a plan until it next counts the table, however much that holds by then.
test.each(Object.keys(hot))('a plan for %s that is made while nothing is there reads no table whole', async name => {
  const { text } = await statementOf(hot[name]!);
  const nodes = await rows.db.transaction(async tx => {
    const run = <R extends Record<string, unknown>>(sql: string) => tx.query<R>({ name: '', text: sql });
    await run('set local plan_cache_mode = force_generic_plan');
    await run(`prepare planned as ${text}`);
    const [prepared] = await run<{ count: number }>(
      `select coalesce(cardinality(parameter_types), 0) as count from pg_prepared_statements where name = 'planned'`,
    );
    const values = Array.from({ length: prepared!.count }, () => 'null').join(', ');
    const explained = await run<Explained>(`explain (format json) execute planned${values && `(${values})`}`);
    await run('deallocate planned');
    return nodesOf(explained[0]!['QUERY PLAN'][0].Plan);
  });
  const scans = nodes.filter(node => node['Node Type'] === 'Seq Scan').map(node => node['Relation Name']!);
  expect(scans.filter(table => !few.has(table))).toEqual([]);
  expect(nodes.map(node => node['Node Type'])).not.toContain('Merge Join');
});
