import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mostUnits } from '../../../src/core/money.ts';
import { decide, historyAfter, type Outcome } from '../../../src/core/payment/decide.ts';
import type { Facts, Terms, Transfer } from '../../../src/core/payment/facts.ts';
import { cancelRefusal, resolveRefusal } from '../../../src/core/payment/refusals.ts';
import { rounds } from '../../support/rounds.ts';
import { createdAt, expiresAt, sampleFacts, sampleTransfer } from './sample.ts';
import { terms as anyTerms, moves, mustLook, startWorld } from './world.ts';

const soon = createdAt + 5000;
const after = expiresAt + 60_000;
// 1 % of the amount is 10: sums below 8 are dust.
const terms = { dustFloor: 8n };

const told = (outcome: Outcome): readonly string[] =>
  outcome.steps.map(({ event, status, exception }) => `${event} ${status}${exception === null ? '' : `+${exception}`}`);
const apply = (facts: Facts, now: number): Facts => ({
  ...facts,
  history: historyAfter(facts.history, decide(facts, now)),
});
const plus = (facts: Facts, ...more: Transfer[]): Facts => ({ ...facts, transfers: [...facts.transfers, ...more] });

describe('while the whole sum is dust', () => {
  const dusty = sampleFacts({ terms, transfers: [sampleTransfer(4n, 98), sampleTransfer(3n, 99)] });

  test('nothing is told, there is no exception, and the sum counts as received', () => {
    expect(decide(dusty, soon)).toMatchObject({ steps: [], status: 'pending', exception: null, amountReceived: 7n });
    expect(decide(sampleFacts({ terms, transfers: [sampleTransfer(7n, null)] }), soon).steps).toEqual([]);
  });

  test('cancel is allowed, and resolve has nothing to accept', () => {
    expect(cancelRefusal(dusty)).toBeNull();
    expect(resolveRefusal(dusty)).toMatch(/negligible/);
    const canceled = apply({ ...dusty, actions: { ...dusty.actions, canceledAt: soon } }, soon);
    expect(canceled.history).toMatchObject({ status: 'canceled', exception: null });
    const more = plus(canceled, sampleTransfer(1n, 100));
    expect(told(decide(more, soon))).toEqual(['payment.detected canceled', 'payment.late canceled+late']);
  });

  test('the time ends as if nothing had come', () => {
    const over = { ...dusty, chain: { ...dusty.chain, caughtUpAt: after } };
    expect(told(decide(over, after))).toEqual(['payment.expired expired']);
  });

  test('the transfer that lifts the sum over the line is told as the first funds', () => {
    const lifted = plus(apply(dusty, soon), sampleTransfer(1n, 100));
    expect(told(decide(lifted, soon))).toEqual(['payment.detected pending', 'payment.underpaid pending+underpaid']);
    expect(cancelRefusal(lifted)).toMatch(/already been seen/);
    expect(resolveRefusal(apply(lifted, soon))).toBeNull();
  });

  test('the line is the smaller of the floor and 1 % of the amount', () => {
    const detects = (amount: bigint, dustFloor: bigint, sum: bigint): boolean =>
      decide(sampleFacts({ terms: { amount, dustFloor }, transfers: [sampleTransfer(sum, 99)] }), soon).steps.length >
      0;
    expect([detects(1000n, 500n, 9n), detects(1000n, 500n, 10n)]).toEqual([false, true]);
    expect([detects(1050n, 500n, 10n), detects(1050n, 500n, 11n)]).toEqual([false, true]);
    expect([detects(99n, 500n, 1n), detects(1000n, 0n, 1n)]).toEqual([true, true]);
  });
});

describe('dust after funds', () => {
  const underpaid = apply(sampleFacts({ terms, transfers: [sampleTransfer(400n, 98)] }), soon);

  test('counts as received and sends no event', () => {
    const dusted = plus(underpaid, sampleTransfer(7n, 99));
    expect(decide(dusted, soon)).toMatchObject({ steps: [], exception: 'underpaid', amountReceived: 407n });
    expect(told(decide(plus(underpaid, sampleTransfer(8n, 99)), soon))).toEqual([
      'payment.underpaid pending+underpaid',
    ]);
  });

  test('is told if it completes the amount', () => {
    const nearly = apply(sampleFacts({ terms, transfers: [sampleTransfer(995n, 98)] }), soon);
    expect(told(decide(plus(nearly, sampleTransfer(5n, 99)), soon))).toEqual(['payment.confirming confirming']);
  });

  test('an excess of dust is no overpayment, and more than dust is', () => {
    const completed = apply(sampleFacts({ terms, transfers: [sampleTransfer(1000n, 90)] }), soon);
    const dusted = plus(completed, sampleTransfer(7n, 90));
    expect(decide(dusted, soon)).toMatchObject({ steps: [], exception: null, amountReceived: 1007n });
    expect(told(decide(plus(apply(dusted, soon), sampleTransfer(1n, 91)), soon))).toEqual([
      'payment.overpaid completed+overpaid',
    ]);
  });

  test('late dust changes neither status nor exception, unless it completes the amount', () => {
    const expired = apply({ ...underpaid, chain: { ...underpaid.chain, caughtUpAt: after } }, after);
    expect(expired.history).toMatchObject({ status: 'expired', exception: 'underpaid' });
    expect(decide(plus(expired, sampleTransfer(7n, 99, after)), after)).toMatchObject({
      steps: [],
      exception: 'underpaid',
    });
    const nearly = sampleFacts({ terms: { ...terms, latePolicy: 'manual' }, transfers: [sampleTransfer(995n, 98)] });
    const over = apply({ ...nearly, chain: { ...nearly.chain, caughtUpAt: after } }, after);
    expect(told(decide(plus(over, sampleTransfer(5n, 99, after)), after))).toEqual(['payment.late expired+late']);
  });
});

test('payments without a floor know no dust', () => {
  const one = sampleFacts({ transfers: [sampleTransfer(1n, 99)] });
  expect(told(decide(one, soon))).toEqual(['payment.detected pending', 'payment.underpaid pending+underpaid']);
  const over = apply(sampleFacts({ transfers: [sampleTransfer(1000n, 90)] }), soon);
  expect(told(decide(plus(over, sampleTransfer(1n, 90)), soon))).toEqual(['payment.overpaid completed+overpaid']);
});

/** The rule a second time, with fractions of a base unit. */
const isBelowLine = ({ amount, dustFloor }: Terms, sum: bigint): boolean => {
  const line = amount < dustFloor * 100n ? amount : dustFloor * 100n;
  return sum * 100n < line;
};

test('in every history, only dust is silent, and dust is silent while it changes no state', () => {
  fc.assert(
    fc.property(anyTerms, moves(50), (frozen, all) => {
      const world = startWorld(frozen);
      for (const { operation, looks } of all) {
        world.run(operation);
        if (!looks && !mustLook(operation)) continue;
        const { before, outcome } = world.look();
        const live = before.transfers.filter(({ canonical }) => canonical);
        const seen = live.reduce((sum, { amount }) => sum + amount, 0n);
        const mined = live.reduce((sum, { amount, block }) => (block === null ? sum : sum + amount), 0n);
        const events = outcome.steps.filter(({ stray }) => stray === null).map(({ event }) => event);
        expect(outcome.amountReceived).toBe(mined);
        if (seen > 0n && !isBelowLine(frozen, seen) && !before.history.detected) {
          expect(events).toContain('payment.detected');
        }
        if (isBelowLine(frozen, seen)) {
          expect(events).not.toContain('payment.detected');
          if (outcome.exception !== 'reorged') expect(outcome.exception).toBeNull();
          expect(cancelRefusal(before) ?? '').not.toMatch(/already been seen/);
          expect(resolveRefusal(before)).not.toBeNull();
        }
        if (outcome.exception === 'overpaid') expect(isBelowLine(frozen, mined - frozen.amount)).toBe(false);
        const isSameState = outcome.status === before.history.status && outcome.exception === before.history.exception;
        const added = mined - before.history.amountReceived;
        if (isSameState && before.history.detected && isBelowLine(frozen, added)) expect(events).toEqual([]);
      }
    }),
    { numRuns: rounds(60, 600) },
  );
});

test('sums beyond what is recorded are capped, and final funds still complete the payment', () => {
  const absurd = [1, 2].map(nth => sampleTransfer(mostUnits, 90 + nth, soon, { verified: false }));
  const facts = sampleFacts({ transfers: [...absurd, sampleTransfer(1000n, 90)] });
  expect(decide(facts, soon)).toMatchObject({
    status: 'completed',
    exception: 'overpaid',
    amountReceived: mostUnits,
    amountConfirmed: 1000n,
  });
});
