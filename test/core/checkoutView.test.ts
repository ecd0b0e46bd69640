import { describe, expect, test } from 'vitest';
import { type CheckoutView, checkoutState, hasFunds } from '../../src/core/checkoutView.ts';

type Standing = Parameters<typeof checkoutState>[0];

const nowMs = 1_000;
const open: Standing = {
  status: 'pending',
  exception: null,
  amountReceived: '0.00',
  amountRemaining: '10.00',
  isPayable: true,
  expiresAtMs: nowMs + 1,
};
const stateOf = (parts: Partial<Standing>): string => checkoutState({ ...open, ...parts }, nowMs);

describe('a pending payment', () => {
  test('waits, or misses a part', () => {
    expect(stateOf({})).toBe('waiting');
    expect(stateOf({ amountReceived: '4.00', amountRemaining: '6.00' })).toBe('underpaid');
  });

  test('cannot be paid from the moment at which it expires', () => {
    expect(stateOf({ expiresAtMs: nowMs })).toBe('timeUp');
    expect(stateOf({ expiresAtMs: nowMs, isPayable: false })).toBe('timeUp');
    expect(stateOf({ expiresAtMs: nowMs, amountReceived: '4.00', amountRemaining: '6.00' })).toBe('timeUp');
  });

  test('cannot be paid where nobody looks after it', () => {
    expect(stateOf({ isPayable: false })).toBe('notPayable');
    expect(stateOf({ isPayable: false, amountReceived: '4.00', amountRemaining: '6.00' })).toBe('notPayable');
  });

  test('asks for nothing more once all has come, in time or not', () => {
    const paid = { amountReceived: '10.00', amountRemaining: '0.00' };
    expect(stateOf(paid)).toBe('expiredWithFunds');
    expect(stateOf({ ...paid, expiresAtMs: nowMs })).toBe('expiredWithFunds');
    expect(stateOf({ amountRemaining: '0.00' })).toBe('waiting');
  });
});

test.each(['confirming', 'canceled', 'reversed'] as const)('one that is %s is shown so', status => {
  expect(stateOf({ status, exception: 'overpaid', amountReceived: '11.00' })).toBe(status);
});

test('a completed payment says when too much came', () => {
  expect(stateOf({ status: 'completed' })).toBe('completed');
  expect(stateOf({ status: 'completed', exception: 'late' })).toBe('completed');
  expect(stateOf({ status: 'completed', exception: 'overpaid' })).toBe('overpaid');
});

test('an expired payment says when money came', () => {
  expect(stateOf({ status: 'expired' })).toBe('expired');
  expect(stateOf({ status: 'expired', exception: 'underpaid' })).toBe('expired');
  expect(stateOf({ status: 'expired', exception: 'late' })).toBe('expiredWithFunds');
  expect(stateOf({ status: 'expired', amountReceived: '0.01' })).toBe('expiredWithFunds');
});

test('funds are any sum but zero, however zero is written', () => {
  const has = (amountReceived: CheckoutView['amountReceived']): boolean => hasFunds({ amountReceived });
  for (const zero of ['0', '0.', '0.0', '0.00', '0.000000']) expect(has(zero), zero).toBe(false);
  for (const sum of ['1', '0.01', '10', '10.00', '0.10', '100']) expect(has(sum), sum).toBe(true);
});
