import { beforeAll, expect, test } from 'vitest';
import type { Scope } from '../../src/core/environment.ts';
import { decide } from '../../src/core/payment/decide.ts';
import { freshHistory } from '../../src/core/payment/facts.ts';
import { walk } from '../../src/core/payment/walk.ts';
import { type Act, advancePayment } from '../../src/engine/payments/advancePayment.ts';
import { TamperedPayment } from '../../src/engine/payments/paymentAddress.ts';
import { noFunds } from '../../src/engine/payments/paymentFacts.ts';
import { planOutcome, writeOutcomes } from '../../src/engine/payments/writeOutcomes.ts';
import { lockPayments } from '../../src/storage/payments/payments.ts';
import { sampleFacts } from '../core/payment/sample.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const scopeOf = (accountId: string): Scope => ({ accountId, environment: 'sandbox' });
const advance = (scope: Scope, id: string, act?: Act) =>
  quiet.context.db.transaction(tx => advancePayment(quiet.context, tx, scope, id, { act }));

test('a sum once accepted is a fact from then on', async () => {
  const { account, ids } = await quiet.overdue(1);
  const [id] = ids as [string];
  const scope = scopeOf(account.id);
  const accepted = { amount: 7n, at: 1_700_000_000_123 };
  const first = await advance(scope, id, facts => {
    expect(facts.actions.accepted).toBeNull();
    return { accepted };
  });
  expect(first?.row).toMatchObject({ amountAccepted: '7', acceptedAt: new Date(accepted.at) });
  const seen: unknown[] = [];
  const again = await advance(scope, id, facts => {
    seen.push(facts.actions.accepted);
    return {};
  });
  expect(seen).toEqual([accepted]);
  expect(again?.row).toMatchObject({ amountAccepted: '7', acceptedAt: new Date(accepted.at), status: 'pending' });
});

test('every step of every payment is written and told, in its order', async () => {
  const { account, ids } = await quiet.overdue(3);
  const scope = scopeOf(account.id);
  const nowMs = Date.now();
  const pending = { status: 'pending', exception: null } as const;
  const facts = sampleFacts({});
  const outcomeTo = (status: 'completed' | 'expired' | 'confirming') => {
    const decided = decide(facts, nowMs);
    const moves = walk(pending, { status, exception: status === 'completed' ? 'overpaid' : null });
    const steps = moves.map((move, i) => ({ ...move, sequence: freshHistory.sequence + i + 1, stray: null }));
    return { ...decided, status, steps, completedAt: status === 'completed' ? nowMs : null, wakeAt: null };
  };
  const targets = ['completed', 'expired', 'confirming'] as const;
  await quiet.context.db.transaction(async tx => {
    const keys = ids.map(id => ({ ...scope, id }));
    const rows = await lockPayments(tx, keys, 'wait');
    expect(rows.map(row => row.id)).toEqual(ids);
    const plans = rows.map((row, i) =>
      planOutcome(quiet.context, {
        before: row,
        funds: noFunds,
        facts,
        outcome: outcomeTo(targets[i]!),
        nowMs,
        trace: null,
      }),
    );
    expect(plans.map(plan => plan.after.status)).toEqual(targets);
    await writeOutcomes(quiet.context, tx, plans);
  });
  const events = await quiet.read<{ payment_id: string; text: string; data: string }>(`select payment_id,
      sequence || ' ' || type || ' ' || previous_status || ' ' || status as text, body::json -> 'data' ->> 'status' as data
    from events where account_id = '${account.id}' and sequence > 1 order by payment_id, sequence`);
  const of = (id: string) => events.filter(event => event.payment_id === id).map(event => [event.text, event.data]);
  expect(of(ids[0]!)).toEqual([
    ['2 payment.confirming pending confirming', 'confirming'],
    ['3 payment.overpaid confirming confirming', 'confirming'],
    ['4 payment.completed confirming completed', 'completed'],
  ]);
  expect(of(ids[1]!)).toEqual([['2 payment.expired pending expired', 'expired']]);
  expect(of(ids[2]!)).toEqual([['2 payment.confirming pending confirming', 'confirming']]);
  expect(await quiet.statuses(account.id)).toEqual({ completed: 1, expired: 1, confirming: 1 });
  const totals = await quiet.read(`select status, sum(change)::int as n from payment_deltas
    where account_id = '${account.id}' group by 1 having sum(change) <> 0 order by 1`);
  expect(totals).toEqual([
    { status: 'confirming', n: 1 },
    { status: 'completed', n: 1 },
    { status: 'expired', n: 1 },
  ]);
});

test('a row that does not carry its seal is not advanced, whoever asks', async () => {
  const { account, ids } = await quiet.overdue(1);
  await quiet.tamper(ids[0]!, `treasury = '0xbadc0de' || right(treasury, 33)`);
  await expect(advance(scopeOf(account.id), ids[0]!)).rejects.toBeInstanceOf(TamperedPayment);
});

test('a payment of another account or environment is not there', async () => {
  const { account, ids } = await quiet.overdue(1);
  const other = await quiet.scene.account();
  expect(await advance(scopeOf(other.id), ids[0]!)).toBeNull();
  expect(await advance({ accountId: account.id, environment: 'production' }, ids[0]!)).toBeNull();
});

test('a decision waits for the chain of the payment itself', async () => {
  const { account, ids } = await quiet.overdue(1);
  const scope = scopeOf(account.id);
  await quiet.caughtUp('eip155:8453');
  expect((await advance(scope, ids[0]!))?.row).toMatchObject({ status: 'pending', sequence: 1 });
  await quiet.caughtUp();
  expect((await advance(scope, ids[0]!))?.row).toMatchObject({ status: 'expired', sequence: 2 });
});
