import { describe, expect, test } from 'vitest';
import { decide, historyAfter, type Outcome } from '../../../src/core/payment/decide.ts';
import { type Facts, freshHistory } from '../../../src/core/payment/facts.ts';
import { confirmationsOf } from '../../../src/core/payment/finality.ts';
import { createdAt, dayMs, expiresAt, sampleFacts, sampleTransfer } from './sample.ts';

const soon = createdAt + 5000;
const after = expiresAt + 60_000;

const told = (outcome: Outcome): readonly string[] =>
  outcome.steps.map(({ event, status, exception }) => `${event} ${status}${exception === null ? '' : `+${exception}`}`);
const apply = (facts: Facts, now: number): Facts => ({
  ...facts,
  history: historyAfter(facts.history, decide(facts, now)),
});

describe('a completed payment', () => {
  const completed = apply(sampleFacts({ terms: { toleranceBps: 100 }, transfers: [sampleTransfer(1000n, 90)] }), soon);

  test('keeps the time of its completion when more comes', () => {
    const more = { ...completed, transfers: [...completed.transfers, sampleTransfer(500n, 91)] };
    const outcome = decide(more, soon + 1);
    expect(told(outcome)).toEqual(['payment.overpaid completed+overpaid']);
    expect(outcome.completedAt).toBe(soon);
  });

  test('tells of more that stays within the tolerance; a confirming one does not', () => {
    const little = sampleTransfer(5n, 91);
    expect(told(decide({ ...completed, transfers: [...completed.transfers, little] }, soon))).toEqual([
      'payment.completed completed',
    ]);
    const confirming = apply(
      sampleFacts({ terms: { toleranceBps: 100 }, transfers: [sampleTransfer(1000n, 100)] }),
      soon,
    );
    expect(decide({ ...confirming, transfers: [...confirming.transfers, little] }, soon).steps).toEqual([]);
  });

  test('that was reversed and is paid late is told to be late after its completion', () => {
    const reversed = apply({ ...completed, transfers: [] }, soon);
    expect(told(decide({ ...reversed, transfers: [sampleTransfer(1000n, 90, after)] }, after))).toEqual([
      'payment.confirming confirming+reorged',
      'payment.completed completed',
      'payment.late completed+late',
    ]);
  });
});

describe('finality', () => {
  const tiers = [
    { atLeast: 0n, rule: { kind: 'depth', depth: 1 } },
    { atLeast: 5000n, rule: { kind: 'finalized' } },
  ] as const;

  test('is that of the amount asked for while less has come', () => {
    const facts = sampleFacts({
      terms: { amount: 5000n, tiers },
      transfers: [sampleTransfer(400n, 100)],
      actions: { accepted: { amount: 400n, at: soon } },
    });
    expect(decide(facts, soon)).toMatchObject({ status: 'confirming', confirmations: { rule: 'finalized' } });
  });

  test('of a completion that fell is not kept by funds that do not count', () => {
    const [kept, lost] = [sampleTransfer(600n, 99), sampleTransfer(400n, 100)];
    const facts = apply(sampleFacts({ terms: { tiers, latePolicy: 'manual' }, transfers: [kept, lost] }), soon);
    expect(facts.history.status).toBe('completed');
    const late = sampleTransfer(9000n, 90, after);
    const outcome = decide({ ...facts, transfers: [kept, late] }, after);
    expect(outcome).toMatchObject({ status: 'reversed', amountConfirmed: 9000n });
  });

  test('counts from the block that covers the amount', () => {
    const transfers = [sampleTransfer(400n, 90), sampleTransfer(600n, 95), sampleTransfer(1n, 99)];
    expect(decide(sampleFacts({ transfers }), soon).coveredNumber).toBe(95);
    expect(decide(sampleFacts({ transfers: transfers.slice(0, 1) }), soon).coveredNumber).toBeNull();
  });

  test('counts no block of a chain that was never read', () => {
    const unread = { latest: null, safe: null, finalized: null, agreed: null };
    expect(confirmationsOf({ number: 0 }, unread)).toBe(0);
    expect(confirmationsOf({ number: 0 }, { ...unread, latest: 0 })).toBe(1);
  });
});

describe('the merchant', () => {
  test('who accepts nothing completes nothing', () => {
    const facts = sampleFacts({ actions: { accepted: { amount: 0n, at: soon } } });
    expect(decide(facts, soon)).toMatchObject({ status: 'pending', steps: [] });
  });

  test('who cancels a payment that is confirming by then does not stop it', () => {
    const confirming = apply(sampleFacts({ transfers: [sampleTransfer(1000n, 100)] }), soon);
    const canceled = { ...confirming, actions: { ...confirming.actions, canceledAt: soon } };
    expect(decide(canceled, soon).status).toBe('confirming');
  });

  test('who accepts a sum for a canceled payment that a reorg takes at once leaves it canceled', () => {
    const canceled = apply(sampleFacts({ actions: { canceledAt: soon } }), soon);
    const accepted = { ...canceled.actions, accepted: { amount: 400n, at: soon } };
    expect(decide({ ...canceled, actions: accepted }, soon)).toMatchObject({ status: 'canceled', steps: [] });
  });
});

test('unconfirmed funds seen at the last moment hold expiry back', () => {
  const facts = sampleFacts({ transfers: [sampleTransfer(1000n, null, expiresAt)], chain: { caughtUpAt: after } });
  expect(decide(facts, after)).toMatchObject({ status: 'pending', wakeAt: expiresAt + dayMs });
});

test('the history holds the strays that were told, and begins with none and nothing settled', () => {
  expect(freshHistory).toMatchObject({ settled: [], strays: [], sequence: 1 });
  const facts = sampleFacts({ strays: [{ key: 'a' }], transfers: [sampleTransfer(1000n, 90)] });
  expect(apply(facts, soon).history.strays).toEqual(['a']);
});
