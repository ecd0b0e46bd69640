import { describe, expect, test } from 'vitest';
import { decide, historyAfter, type Outcome } from '../../../src/core/payment/decide.ts';
import type { Facts } from '../../../src/core/payment/facts.ts';
import { cancelRefusal, resolveRefusal } from '../../../src/core/payment/refusals.ts';
import { createdAt, expiresAt, sampleFacts, sampleTransfer } from './sample.ts';

const soon = createdAt + 5000;
const after = expiresAt + 60_000;

const told = (outcome: Outcome): readonly string[] =>
  outcome.steps.map(({ event, status, exception }) => `${event} ${status}${exception === null ? '' : `+${exception}`}`);
const apply = (facts: Facts, now: number): Facts => ({
  ...facts,
  history: historyAfter(facts.history, decide(facts, now)),
});
const accept = (facts: Facts, at: number): Facts => ({
  ...facts,
  actions: { ...facts.actions, accepted: { amount: decide(facts, at).amountReceived, at } },
});
const cancel = (facts: Facts, at: number): Facts => ({ ...facts, actions: { ...facts.actions, canceledAt: at } });

describe('cancel', () => {
  const canceled = apply(cancel(sampleFacts(), soon), soon);

  test('ends a pending payment; time no longer touches it', () => {
    expect(cancelRefusal(sampleFacts())).toBeNull();
    const outcome = decide(cancel(sampleFacts(), soon), soon);
    expect(told(outcome)).toEqual(['payment.canceled canceled']);
    expect(outcome).toMatchObject({ canceledAt: soon, wakeAt: null });
    expect(decide({ ...canceled, chain: { ...canceled.chain, caughtUpAt: after } }, after).steps).toEqual([]);
  });

  test('is refused once funds were seen, confirmed or not, and in every other status', () => {
    expect(cancelRefusal(sampleFacts({ transfers: [sampleTransfer(1n, 100)] }))).toMatch(/already been seen/);
    expect(cancelRefusal(sampleFacts({ transfers: [sampleTransfer(1n, null)] }))).toMatch(/already been seen/);
    expect(cancelRefusal(sampleFacts({ transfers: [sampleTransfer(1n, 100, soon, { canonical: false })] }))).toBeNull();
    expect(cancelRefusal(sampleFacts({ actions: { accepted: { amount: 1n, at: soon } } }))).toMatch(/accepted/);
    for (const status of ['confirming', 'completed', 'expired', 'canceled', 'reversed'] as const) {
      expect(cancelRefusal(sampleFacts({ history: { status } }))).toMatch(`The payment is ${status}`);
    }
  });

  test('funds on a canceled payment are late, in time or not, and change no status', () => {
    const paid = { ...canceled, transfers: [sampleTransfer(1000n, 90)] };
    expect(told(decide(paid, soon))).toEqual(['payment.detected canceled', 'payment.late canceled+late']);
  });

  test('funds on a canceled payment can be accepted; only that brings it back', () => {
    const paid = apply({ ...canceled, transfers: [sampleTransfer(400n, 100)] }, soon);
    expect(resolveRefusal(paid)).toBeNull();
    const accepted = accept(paid, soon);
    expect(told(decide(accepted, soon))).toEqual(['payment.confirming confirming+late']);
    const done = apply({ ...accepted, chain: { ...accepted.chain, latest: 102 } }, soon);
    expect([done.history.status, done.history.exception]).toEqual(['completed', 'late']);
  });

  test('an accepted one whose funds vanish while confirming waits again', () => {
    const paid = apply({ ...canceled, transfers: [sampleTransfer(400n, 100)] }, soon);
    const confirming = apply(accept(paid, soon), soon);
    expect(told(decide({ ...confirming, transfers: [] }, soon))).toEqual(['payment.reverted pending']);
  });
});

describe('resolve', () => {
  test('takes an underpaid sum as payment, and completes once that sum is final', () => {
    const underpaid = apply(sampleFacts({ transfers: [sampleTransfer(400n, 100)] }), soon);
    expect(resolveRefusal(underpaid)).toBeNull();
    const accepted = accept(underpaid, soon);
    expect(told(decide(accepted, soon))).toEqual(['payment.confirming confirming+underpaid']);
    const final = { ...apply(accepted, soon), chain: { ...accepted.chain, latest: 102 } };
    expect(told(decide(final, soon))).toEqual(['payment.completed completed+underpaid']);
    const rest = { ...apply(final, soon), transfers: [...final.transfers, sampleTransfer(600n, 102)] };
    expect(told(decide(rest, soon))).toEqual(['payment.completed completed']);
  });

  test('needs the whole accepted sum to be final', () => {
    const transfers = [sampleTransfer(300n, 90), sampleTransfer(100n, 100)];
    const accepted = accept(apply(sampleFacts({ transfers }), soon), soon);
    expect(decide(accepted, soon)).toMatchObject({ status: 'confirming', confirmations: { current: 1 } });
  });

  test('takes late funds as payment, past the window too', () => {
    const at = expiresAt + 400 * 86_400_000;
    const expired = apply(sampleFacts({ chain: { caughtUpAt: after } }), after);
    const late = apply({ ...expired, transfers: [sampleTransfer(1000n, 90, at)] }, at);
    expect(late.history).toMatchObject({ status: 'expired', exception: 'late' });
    expect(resolveRefusal(late)).toBeNull();
    expect(told(decide(accept(late, at), at))).toEqual([
      'payment.confirming confirming+late',
      'payment.completed completed+late',
    ]);
  });

  test('takes what is left of a reversed payment', () => {
    const completed = apply(sampleFacts({ transfers: [sampleTransfer(400n, 80), sampleTransfer(600n, 90)] }), soon);
    const reversed = apply({ ...completed, transfers: [sampleTransfer(400n, 80)] }, soon);
    expect(reversed.history.status).toBe('reversed');
    expect(resolveRefusal(reversed)).toBeNull();
    expect(told(decide(accept(reversed, soon), soon))).toEqual([
      'payment.confirming confirming+reorged',
      'payment.completed completed',
      'payment.underpaid completed+underpaid',
    ]);
  });

  test('is refused when there is nothing to accept', () => {
    expect(resolveRefusal(sampleFacts())).toMatch(/No funds/);
    expect(resolveRefusal(sampleFacts({ transfers: [sampleTransfer(1000n, null)] }))).toMatch(/No funds/);
    expect(resolveRefusal(sampleFacts({ history: { status: 'canceled' } }))).toMatch(/No funds/);
    const transfers = [sampleTransfer(1000n, 90)];
    expect(resolveRefusal(sampleFacts({ transfers }))).toMatch(/being confirmed/);
    expect(resolveRefusal(sampleFacts({ transfers, history: { status: 'confirming' } }))).toMatch(/being confirmed/);
    expect(resolveRefusal(sampleFacts({ transfers, history: { status: 'completed' } }))).toMatch(/already completed/);
  });
});
