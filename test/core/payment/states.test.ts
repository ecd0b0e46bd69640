import { expect, test } from 'vitest';
import {
  eventTypes,
  exceptions,
  isLegalEdge,
  legalEdges,
  type PaymentStatus,
  paymentStatuses,
} from '../../../src/core/payment/states.ts';
import { legalPath, walk } from '../../../src/core/payment/walk.ts';

test('the legal edges are these and no others', () => {
  const edges = paymentStatuses.flatMap(from => legalEdges[from].map(to => `${from}→${to}`));
  expect(edges.sort()).toEqual(
    [
      'pending→confirming',
      'pending→expired',
      'pending→canceled',
      'confirming→completed',
      'confirming→pending',
      'confirming→expired',
      'confirming→reversed',
      'expired→confirming',
      'canceled→confirming',
      'completed→reversed',
      'reversed→confirming',
    ].sort(),
  );
  const all = paymentStatuses.flatMap(from => paymentStatuses.map(to => ({ from, to })));
  const legal = all.filter(({ from, to }) => isLegalEdge(from, to)).map(({ from, to }) => `${from}→${to}`);
  expect(legal.sort()).toEqual(edges.sort());
});

test('exceptions are listed by precedence and events by kind', () => {
  expect(exceptions).toEqual(['reorged', 'late', 'overpaid', 'underpaid']);
  expect(eventTypes).toHaveLength(14);
});

test('a jump leads through confirming into completed and through reversed out of it, and nowhere else', () => {
  const paths = paymentStatuses.flatMap(from =>
    paymentStatuses.flatMap(to => {
      if (from === to || isLegalEdge(from, to)) return [];
      try {
        return [[from, ...legalPath(from, to)].join('→')];
      } catch {
        return [];
      }
    }),
  );
  expect(paths).toEqual([
    'pending→confirming→completed',
    'completed→reversed→confirming',
    'expired→confirming→completed',
    'canceled→confirming→completed',
    'reversed→confirming→completed',
  ]);
  expect(() => legalPath('expired', 'pending')).toThrow('no legal path');
});

test('a walk is a chain of legal edges and changes of exception that ends where it should', () => {
  const states = paymentStatuses.flatMap(status => [null, ...exceptions].map(exception => ({ status, exception })));
  const canGo = (from: PaymentStatus, to: PaymentStatus): boolean =>
    from === to || isLegalEdge(from, to) || to === 'completed' || (from === 'completed' && to === 'confirming');
  for (const from of states) {
    for (const to of states) {
      const isReorged = to.status === 'reversed' || (from.status === 'completed' && to.status === 'confirming');
      if (!canGo(from.status, to.status) || (isReorged && to.exception !== 'reorged')) continue;
      let at = from;
      for (const move of walk(from, to)) {
        expect(move.previous).toEqual(at);
        expect(eventTypes).toContain(move.event);
        if (move.status !== at.status) expect(isLegalEdge(at.status, move.status)).toBe(true);
        else expect(move.exception).not.toBe(at.exception);
        at = { status: move.status, exception: move.exception };
      }
      expect(at).toEqual(to);
    }
  }
});
