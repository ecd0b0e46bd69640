import { describe, expect, test } from 'vitest';
import { decide, historyAfter, type Outcome } from '../../../src/core/payment/decide.ts';
import type { Facts } from '../../../src/core/payment/facts.ts';
import { createdAt, dayMs, expiresAt, sampleFacts, sampleTransfer } from './sample.ts';

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

describe('an address whose balances are not read', () => {
  const hourMs = 3_600_000;
  const at = (now: number, addressReadAt: number | null, caughtUpAt: number | null = now): Outcome =>
    decide(sampleFacts({ chain: { caughtUpAt, addressReadAt } }), now);

  test.each([
    ['never', null],
    ['a moment before the end of its time', expiresAt - 1],
  ])('read %s: expiry waits an hour and is flagged', (_, addressReadAt) => {
    const waiting = { status: 'pending', awaitsRead: true, expiredUnread: false };
    expect(at(expiresAt - 1, addressReadAt)).toMatchObject(waiting);
    expect(at(expiresAt + hourMs - 1, addressReadAt)).toMatchObject(waiting);
    const flagged = { status: 'expired', awaitsRead: false, expiredUnread: true };
    expect(at(expiresAt + hourMs, addressReadAt)).toMatchObject(flagged);
  });

  test('read at the end of its time: it expires then, without a flag', () => {
    expect(at(expiresAt - 1, expiresAt)).toMatchObject({ status: 'pending', awaitsRead: false });
    const over = { status: 'expired', awaitsRead: false, expiredUnread: false };
    expect(at(expiresAt, expiresAt)).toMatchObject(over);
  });

  test('nothing expires on a chain that was never read', () => {
    expect(at(expiresAt + 25 * hourMs, expiresAt, null).status).toBe('pending');
  });

  test('a payment that is confirming waits for no reading', () => {
    const facts = sampleFacts({ transfers: [sampleTransfer(1000n, 100)], chain: { addressReadAt: null } });
    expect(decide(facts, soon)).toMatchObject({ status: 'confirming', awaitsRead: false, expiredUnread: false });
  });
});

describe('from pending', () => {
  test('nothing has come: nothing is told, and the payment wakes when its time ends', () => {
    const outcome = decide(sampleFacts(), soon);
    expect(outcome).toMatchObject({
      status: 'pending',
      exception: null,
      steps: [],
      wakeAt: expiresAt,
      amountReceived: 0n,
    });
    expect(outcome.confirmations).toEqual({ current: 0, required: 3, rule: 'depth' });
  });

  test('unconfirmed funds are detected and pass nothing', () => {
    const outcome = decide(sampleFacts({ transfers: [sampleTransfer(1000n, null)] }), soon);
    expect(told(outcome)).toEqual(['payment.detected pending']);
    expect(outcome).toMatchObject({ amountReceived: 0n, amountConfirmed: 0n, wakeAt: expiresAt + dayMs });
  });

  test('a partial sum is underpaid', () => {
    const outcome = decide(sampleFacts({ transfers: [sampleTransfer(400n, 100)] }), soon);
    expect(told(outcome)).toEqual(['payment.detected pending', 'payment.underpaid pending+underpaid']);
    expect(outcome.amountReceived).toBe(400n);
  });

  test('the rest clears underpaid on the way to confirming', () => {
    const facts = apply(sampleFacts({ transfers: [sampleTransfer(400n, 99)] }), soon);
    const outcome = decide({ ...facts, transfers: [...facts.transfers, sampleTransfer(600n, 100)] }, soon);
    expect(told(outcome)).toEqual(['payment.confirming confirming']);
    expect(outcome.steps[0]).toMatchObject({ previous: { status: 'pending', exception: 'underpaid' }, sequence: 4 });
    expect(outcome.confirmations).toEqual({ current: 1, required: 3, rule: 'depth' });
  });

  test('a final transfer seen first after an outage walks the whole path', () => {
    const outcome = decide(sampleFacts({ transfers: [sampleTransfer(1000n, 90)], chain: caughtUp }), after);
    expect(told(outcome)).toEqual([
      'payment.detected pending',
      'payment.confirming confirming',
      'payment.completed completed',
    ]);
    expect(outcome.steps.map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
    expect(outcome).toMatchObject({ completedAt: after, wakeAt: null, amountConfirmed: 1000n });
  });

  test('an overpayment completes and is told', () => {
    const outcome = decide(sampleFacts({ transfers: [sampleTransfer(1001n, 90)] }), soon);
    expect(told(outcome)).toEqual([
      'payment.detected pending',
      'payment.confirming confirming',
      'payment.overpaid confirming+overpaid',
      'payment.completed completed+overpaid',
    ]);
  });

  test.each([
    [989n, 'pending', 'underpaid'],
    [990n, 'completed', null],
    [1010n, 'completed', null],
    [1011n, 'completed', 'overpaid'],
  ])('with a tolerance of 1 %% a sum of %s of 1000 is %s, %s', (amount, status, exception) => {
    const facts = sampleFacts({ terms: { toleranceBps: 100 }, transfers: [sampleTransfer(amount, 90)] });
    expect(state(decide(facts, soon))).toEqual([status, exception]);
  });

  test('tolerance is rounded against the payer', () => {
    const facts = sampleFacts({ terms: { amount: 199n, toleranceBps: 100 }, transfers: [sampleTransfer(197n, 90)] });
    expect(state(decide(facts, soon))).toEqual(['pending', 'underpaid']);
  });

  test('transfers of nothing, orphaned ones and dropped ones are not funds', () => {
    const gone = { canonical: false };
    const transfers = [
      sampleTransfer(0n, 90),
      sampleTransfer(1000n, 91, soon, gone),
      sampleTransfer(1000n, null, soon, gone),
    ];
    expect(decide(sampleFacts({ transfers }), soon)).toMatchObject({
      status: 'pending',
      steps: [],
      amountReceived: 0n,
    });
  });
});

describe('time', () => {
  test('expires when a poll begun at or after the end has found every block processed', () => {
    expect(told(decide(sampleFacts({ chain: { caughtUpAt: expiresAt } }), expiresAt))).toEqual([
      'payment.expired expired',
    ]);
    expect(decide(sampleFacts({ chain: { caughtUpAt: expiresAt - 1 } }), after + dayMs).status).toBe('pending');
    expect(decide(sampleFacts({ chain: { caughtUpAt: null } }), after).status).toBe('pending');
    expect(decide(sampleFacts({ chain: { caughtUpAt: after } }), expiresAt - 1).status).toBe('pending');
  });

  test('a partial sum expires as underpaid', () => {
    const facts = apply(sampleFacts({ transfers: [sampleTransfer(400n, 90)], chain: caughtUp }), soon);
    expect(told(decide(facts, after))).toEqual(['payment.expired expired+underpaid']);
  });

  test('in time is the earlier of first seen and block time', () => {
    const seenInTime = sampleTransfer(1000n, 100, after, { firstSeenAt: expiresAt });
    const minedInTime = sampleTransfer(1000n, 100, expiresAt, { firstSeenAt: after });
    const neither = sampleTransfer(1000n, 100, expiresAt + 1);
    const exceptionOf = (transfer: typeof neither) =>
      decide(sampleFacts({ transfers: [transfer], chain: caughtUp }), after).exception;
    expect([seenInTime, minedInTime, neither].map(exceptionOf)).toEqual([null, null, 'late']);
    const manual = { latePolicy: 'manual' as const };
    expect(decide(sampleFacts({ terms: manual, transfers: [seenInTime], chain: caughtUp }), after).status).toBe(
      'confirming',
    );
  });

  test('unconfirmed funds seen in time that would cover the amount hold expiry back for a day', () => {
    const held = { transfers: [sampleTransfer(600n, null), sampleTransfer(400n, 99)] };
    const at = (time: number) => decide(sampleFacts({ ...held, chain: { caughtUpAt: time } }), time);
    expect(at(after)).toMatchObject({ status: 'pending', wakeAt: expiresAt + dayMs });
    expect(at(expiresAt + dayMs - 1).status).toBe('pending');
    expect(at(expiresAt + dayMs).status).toBe('expired');
  });

  test.each([
    ['too little', sampleTransfer(999n, null)],
    ['seen too late', sampleTransfer(1000n, null, expiresAt + 1)],
    ['dropped', sampleTransfer(1000n, null, soon, { canonical: false })],
  ])('unconfirmed funds that are %s hold nothing back', (_, transfer) => {
    expect(decide(sampleFacts({ transfers: [transfer], chain: caughtUp }), after).status).toBe('expired');
  });

  test('the unconfirmed form of a transfer in a block is not counted beside it', () => {
    const transfers = [
      sampleTransfer(500n, 99, soon, { hash: 'tx' }),
      sampleTransfer(500n, null, soon, { hash: 'tx' }),
    ];
    expect(decide(sampleFacts({ transfers, chain: caughtUp }), after)).toMatchObject({
      status: 'expired',
      amountReceived: 500n,
    });
  });

  test('the sandbox can end the time early', () => {
    const facts = sampleFacts({ actions: { timeEndedAt: soon }, chain: { caughtUpAt: soon } });
    expect(told(decide(facts, soon))).toEqual(['payment.expired expired']);
    const paid = { ...facts, transfers: [sampleTransfer(1000n, 100, soon + 1)] };
    expect(state(decide(paid, soon + 1))).toEqual(['confirming', 'late']);
  });
});

describe('late funds', () => {
  const expired = apply(sampleFacts({ chain: caughtUp }), after);
  const late = (at: number, terms: Partial<Facts['terms']> = {}) =>
    decide({ ...expired, terms: { ...expired.terms, ...terms }, transfers: [sampleTransfer(1000n, 90, at)] }, at);
  const windowEnd = expiresAt + 30 * dayMs;

  test('within the window the policy accept completes them as late', () => {
    expect(told(late(windowEnd))).toEqual([
      'payment.detected expired',
      'payment.late expired+late',
      'payment.confirming confirming+late',
      'payment.completed completed+late',
    ]);
  });

  test('past the window, or by the policy manual, they stay expired and are told', () => {
    const stays = ['payment.detected expired', 'payment.late expired+late'];
    expect(told(late(windowEnd + 1))).toEqual(stays);
    expect(told(late(after, { latePolicy: 'manual' }))).toEqual(stays);
  });

  test('they count on top of a timely part', () => {
    const transfers = [sampleTransfer(400n, 90, soon), sampleTransfer(600n, 91, after)];
    expect(state(decide({ ...expired, transfers }, after))).toEqual(['completed', 'late']);
    const manual = { ...expired.terms, latePolicy: 'manual' as const };
    expect(state(decide({ ...expired, terms: manual, transfers }, after))).toEqual(['expired', 'late']);
  });

  test('found with the end of an outage, expiry is told before lateness', () => {
    const facts = sampleFacts({
      terms: { latePolicy: 'manual' },
      transfers: [sampleTransfer(1000n, 90, after)],
      chain: caughtUp,
    });
    expect(told(decide(facts, after))).toEqual([
      'payment.detected pending',
      'payment.expired expired',
      'payment.late expired+late',
    ]);
  });

  test('more late funds are told again, a replay is not', () => {
    const facts = apply(
      { ...expired, terms: { ...expired.terms, latePolicy: 'manual' }, transfers: [sampleTransfer(10n, 90, after)] },
      after,
    );
    expect(decide(facts, after).steps).toEqual([]);
    const more = { ...facts, transfers: [...facts.transfers, sampleTransfer(20n, 91, after)] };
    expect(told(decide(more, after))).toEqual(['payment.late expired+late']);
  });

  test('a second payment long after a timely one is an overpayment', () => {
    const facts = apply(sampleFacts({ transfers: [sampleTransfer(1000n, 80)] }), soon);
    const again = { ...facts, transfers: [...facts.transfers, sampleTransfer(1000n, 90, after)] };
    expect(told(decide(again, after))).toEqual(['payment.overpaid completed+overpaid']);
  });

  test('funds that a reorg takes from an expired payment end its exception', () => {
    const facts = apply(
      { ...expired, terms: { ...expired.terms, latePolicy: 'manual' }, transfers: [sampleTransfer(10n, 90, after)] },
      after,
    );
    expect(told(decide({ ...facts, transfers: [] }, after))).toEqual(['payment.reverted expired']);
  });
});
