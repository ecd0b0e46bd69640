import { describe, expect, test } from 'vitest';
import { decide, historyAfter, type Outcome } from '../../../src/core/payment/decide.ts';
import type { Facts } from '../../../src/core/payment/facts.ts';
import { shownConfirmations } from '../../../src/core/payment/finality.ts';
import { createdAt, expiresAt, sampleFacts, sampleTransfer } from './sample.ts';

const soon = createdAt + 5000;
const after = expiresAt + 60_000;
const caughtUp = { caughtUpAt: after };

const told = (outcome: Outcome): readonly string[] =>
  outcome.steps.map(({ event, status, exception }) => `${event} ${status}${exception === null ? '' : `+${exception}`}`);
const state = ({ status, exception }: Outcome) => [status, exception];
const apply = (facts: Facts, now: number): Facts => ({
  ...facts,
  history: historyAfter(facts.history, decide(facts, now)),
});

describe('finality', () => {
  const tiers = [
    { atLeast: 0n, rule: { kind: 'depth', depth: 1 } },
    { atLeast: 5000n, rule: { kind: 'finalized' } },
    { atLeast: 2000n, rule: { kind: 'safe' } },
  ] as const;
  test.each([
    [1000n, 'depth', 1],
    [1999n, 'depth', 1],
    [2000n, 'safe', null],
    [9000n, 'finalized', null],
  ])('the tier for %s received is %s', (amount, rule, required) => {
    const { confirmations } = decide(sampleFacts({ terms: { tiers }, transfers: [sampleTransfer(amount, 100)] }), soon);
    expect(confirmations).toEqual({ current: 1, required, rule });
  });

  test.each([
    [{ kind: 'depth', depth: 3 }, 98, 99],
    [{ kind: 'safe' }, 98, 99],
    [{ kind: 'finalized' }, 90, 91],
    [{ kind: 'safe', depth: 6 }, 95, 96],
  ] as const)('under %j the last final block of 100 is %i', (rule, final, notFinal) => {
    const at = (height: number) =>
      decide(
        sampleFacts({ terms: { tiers: [{ atLeast: 0n, rule }] }, transfers: [sampleTransfer(1000n, height)] }),
        soon,
      ).status;
    expect([at(final), at(notFinal)]).toEqual(['completed', 'confirming']);
  });

  test('without the tag nothing is final', () => {
    const facts = sampleFacts({
      terms: { tiers: [{ atLeast: 0n, rule: { kind: 'finalized' } }] },
      transfers: [sampleTransfer(1000n, 1)],
      chain: { finalized: null },
    });
    expect(decide(facts, soon)).toMatchObject({ status: 'confirming', amountConfirmed: 0n });
  });

  test('current is that of the least-confirmed transfer needed', () => {
    const transfers = [sampleTransfer(5n, 100), sampleTransfer(500n, 99), sampleTransfer(500n, 90)];
    expect(decide(sampleFacts({ transfers }), soon).confirmations.current).toBe(2);
  });

  test('a completion outlives a larger tier and a shorter head', () => {
    const facts = apply(sampleFacts({ terms: { tiers }, transfers: [sampleTransfer(1000n, 100)] }), soon);
    expect(facts.history.settled).toHaveLength(1);
    const larger = { ...facts, transfers: [...facts.transfers, sampleTransfer(9000n, 101)] };
    expect(state(decide(larger, soon))).toEqual(['completed', 'overpaid']);
    const shorter = { ...facts, chain: { ...facts.chain, latest: 99 } };
    expect(decide(shorter, soon)).toMatchObject({ status: 'completed', steps: [] });
  });

  test('a completion that falls leaves nothing final but by the rule', () => {
    const [kept, lost] = [sampleTransfer(600n, 99), sampleTransfer(400n, 100)];
    const facts = apply(sampleFacts({ terms: { tiers }, transfers: [kept, lost] }), soon);
    expect(facts.history.status).toBe('completed');
    const outcome = decide({ ...facts, transfers: [kept, sampleTransfer(9000n, 100)] }, soon);
    expect(outcome).toMatchObject({ status: 'confirming', exception: 'reorged', amountConfirmed: 0n, settled: [] });
  });
});

describe('reorgs', () => {
  const confirming = apply(sampleFacts({ transfers: [sampleTransfer(1000n, 100)] }), soon);
  const completed = apply(sampleFacts({ transfers: [sampleTransfer(1000n, 90)] }), soon);

  test('take a confirming payment back to pending, or to expired when its time is over', () => {
    expect(told(decide({ ...confirming, transfers: [] }, soon))).toEqual(['payment.reverted pending']);
    const over = { ...confirming, transfers: [], chain: { ...confirming.chain, ...caughtUp } };
    expect(told(decide(over, after))).toEqual(['payment.reverted expired']);
    const partly = { ...confirming, transfers: [sampleTransfer(400n, 99)] };
    expect(told(decide(partly, soon))).toEqual(['payment.reverted pending', 'payment.underpaid pending+underpaid']);
  });

  test('reverse a completed payment; it confirms and completes again', () => {
    const reversed = decide({ ...completed, transfers: [] }, soon);
    expect(told(reversed)).toEqual(['payment.reversed reversed+reorged']);
    expect(reversed.completedAt).toBe(soon);
    const facts = apply({ ...completed, transfers: [] }, soon);
    const again = apply({ ...facts, transfers: [sampleTransfer(1000n, 100)] }, soon);
    expect([again.history.status, again.history.exception]).toEqual(['confirming', 'reorged']);
    expect(told(decide({ ...again, transfers: [] }, soon))).toEqual(['payment.reversed reversed+reorged']);
    const final = decide({ ...again, chain: { ...again.chain, latest: 102 } }, soon + 1);
    expect(told(final)).toEqual(['payment.completed completed']);
    expect(final.completedAt).toBe(soon + 1);
  });

  test('that move the funds of a completed payment to a young block walk through reversed', () => {
    expect(told(decide({ ...completed, transfers: [sampleTransfer(1000n, 100)] }, soon))).toEqual([
      'payment.reversed reversed+reorged',
      'payment.confirming confirming+reorged',
    ]);
  });

  test('reorged is stronger than late and overpaid, which return with the completion', () => {
    const facts = apply({ ...completed, transfers: [] }, soon);
    const transfers = [sampleTransfer(2000n, 100, after)];
    const again = apply({ ...facts, transfers }, after);
    expect(again.history.exception).toBe('reorged');
    expect(told(decide({ ...again, chain: { ...again.chain, latest: 110 } }, after))).toEqual([
      'payment.completed completed',
      'payment.late completed+late',
    ]);
  });

  test('that take an overpayment back leave the payment completed and say so', () => {
    const facts = apply({ ...completed, transfers: [...completed.transfers, sampleTransfer(5n, 100)] }, soon);
    expect(told(decide({ ...facts, transfers: completed.transfers }, soon))).toEqual(['payment.completed completed']);
  });
});

describe('strays', () => {
  test('are told once each and credited never', () => {
    const facts = sampleFacts({ strays: [{ key: 'a' }, { key: 'b' }] });
    const outcome = decide(facts, soon);
    expect(outcome).toMatchObject({ status: 'pending', amountReceived: 0n });
    expect(outcome.steps.map(({ event, stray }) => [event, stray])).toEqual([
      ['payment.stray', 'a'],
      ['payment.stray', 'b'],
    ]);
    const third = { ...apply(facts, soon), strays: [{ key: 'a' }, { key: 'c' }, { key: 'b' }] };
    expect(decide(third, soon).steps.map(({ stray }) => stray)).toEqual(['c']);
  });
});

test('more confirmations than are needed are shown as all that are needed', () => {
  expect(shownConfirmations({ current: 39, required: 2 })).toBe(2);
  expect(shownConfirmations({ current: 1, required: 2 })).toBe(1);
  expect(shownConfirmations({ current: 39, required: null })).toBe(39);
});
