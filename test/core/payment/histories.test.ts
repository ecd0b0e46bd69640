import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide, type Outcome } from '../../../src/core/payment/decide.ts';
import { unreadHoldMs } from '../../../src/core/payment/deriveState.ts';
import type { ConfirmationRule, Facts, Transfer } from '../../../src/core/payment/facts.ts';
import { isLegalEdge, type PaymentState } from '../../../src/core/payment/states.ts';
import { rounds } from '../../support/rounds.ts';
import { dayMs } from './sample.ts';
import { type Move, moves, mustLook, startWorld, terms } from './world.ts';

type Look = { readonly before: Facts; readonly outcome: Outcome; readonly after: Facts; readonly now: number };

/** Runs the moves and hands every look to the property. */
const everyLook = (check: (look: Look) => void, numRuns = rounds(40, 400)): void => {
  fc.assert(
    fc.property(terms, moves(50), (frozen, all) => {
      const world = startWorld(frozen);
      for (const { operation, looks } of all) {
        world.run(operation);
        if (looks || mustLook(operation)) check({ ...world.look(), now: world.now() });
      }
      check({ ...world.look(), now: world.now() });
    }),
    { numRuns },
  );
};

const sum = (transfers: readonly Transfer[]): bigint => transfers.reduce((total, { amount }) => total + amount, 0n);
const mined = (facts: Facts): readonly Transfer[] =>
  facts.transfers.filter(item => item.canonical && item.block !== null);
const deadline = ({ terms: { expiresAt }, actions }: Facts): number =>
  Math.min(expiresAt, actions.timeEndedAt ?? Infinity);

test('every history is a path of legal edges, with one numbered event an entry', () => {
  everyLook(({ before: { history }, outcome }) => {
    let at: PaymentState = { status: history.status, exception: history.exception };
    for (const [index, step] of outcome.steps.entries()) {
      expect(step.previous).toEqual(at);
      if (step.status !== at.status) expect(isLegalEdge(at.status, step.status)).toBe(true);
      expect(step.sequence).toBe(history.sequence + 1 + index);
      at = { status: step.status, exception: step.exception };
    }
    expect({ status: outcome.status, exception: outcome.exception }).toEqual(at);
  });
});

test('each kind of event tells what its name says', () => {
  everyLook(({ before, outcome }) => {
    const detections = outcome.steps.filter(({ event }) => event === 'payment.detected').length;
    expect(detections).toBeLessThanOrEqual(before.history.detected ? 0 : 1);
    for (const { event, status, exception, previous, stray } of outcome.steps) {
      const name = event.slice('payment.'.length);
      expect(event === 'payment.stray').toBe(stray !== null);
      if (['late', 'overpaid', 'underpaid'].includes(name)) expect(exception).toBe(name);
      else if (event === 'payment.reverted') expect(['pending', 'expired', 'canceled']).toContain(status);
      else if (!['detected', 'stray'].includes(name)) expect(status).toBe(name);
      if (status === 'canceled' && previous.status === 'canceled') expect(event).not.toBe('payment.canceled');
      if (status === 'confirming' && previous.status === 'canceled') expect(before.actions.accepted).not.toBeNull();
      if (status === 'reversed') expect([exception, before.history.completedAt === null]).toEqual(['reorged', false]);
    }
  });
});

test('a replay changes nothing', () => {
  everyLook(({ after, outcome, now }) => {
    expect(decide(after, now)).toEqual({ ...outcome, steps: [] });
  });
});

test('the order of the facts does not matter', () => {
  everyLook(({ before, outcome, now }) => {
    const tiers = [...before.terms.tiers].reverse() as unknown as Facts['terms']['tiers'];
    const turned = { ...before, terms: { ...before.terms, tiers }, transfers: [...before.transfers].reverse() };
    const rotated = { ...before, transfers: [...before.transfers.slice(1), ...before.transfers.slice(0, 1)] };
    for (const facts of [turned, rotated]) {
      const other = decide(facts, now);
      expect({ ...other, settled: [...other.settled].sort() }).toEqual({
        ...outcome,
        settled: [...outcome.settled].sort(),
      });
    }
  });
});

test('sums are exact', () => {
  everyLook(({ before, outcome }) => {
    expect(outcome.amountReceived).toBe(sum(mined(before)));
    expect(outcome.amountConfirmed).toBeLessThanOrEqual(outcome.amountReceived);
  });
});

const isFinalUnder = (rule: ConfirmationRule, { chain }: Facts, { block, verified }: Transfer): boolean => {
  if (block === null || !verified || block.number > (chain.agreed ?? -1)) return false;
  const deepEnough = (chain.latest ?? -1) - block.number + 1 >= (rule.depth ?? 1);
  if (rule.kind === 'depth') return deepEnough;
  return deepEnough && block.number <= ((rule.kind === 'safe' ? chain.safe : chain.finalized) ?? -1);
};

test('completion needs the covering sum to be final under the rule, and lasts while that sum is on chain', () => {
  everyLook(({ before, outcome }) => {
    const { terms: frozen, actions, history } = before;
    const received = mined(before);
    const larger = sum(received) > frozen.amount ? sum(received) : frozen.amount;
    const [tier] = frozen.tiers
      .filter(({ atLeast }) => atLeast <= larger)
      .sort((a, b) => Number(b.atLeast - a.atLeast));
    const rule = tier?.rule ?? frozen.tiers[0].rule;
    const needed =
      actions.accepted?.amount ?? (frozen.amount * BigInt(10_000 - frozen.toleranceBps) + 9_999n) / 10_000n;
    if (outcome.status === 'completed' && history.status !== 'completed') {
      expect(sum(received.filter(item => isFinalUnder(rule, before, item)))).toBeGreaterThanOrEqual(needed);
      expect(actions.canceledAt === null || actions.accepted !== null).toBe(true);
    }
    if (outcome.status === 'completed' || outcome.status === 'confirming') {
      expect(sum(received)).toBeGreaterThanOrEqual(needed);
    }
    if (outcome.status === 'completed') {
      const settled = received.filter(item => history.settled.includes(item.key) || isFinalUnder(rule, before, item));
      expect(sum(settled)).toBeGreaterThanOrEqual(needed);
      expect(outcome.amountConfirmed).toBe(sum(settled));
    }
    if (outcome.status !== 'completed') expect(outcome.settled).toEqual([]);
    // Late funds do not replace funds that a reorg removed.
    const timely = received.filter(
      ({ firstSeenAt, block }) => Math.min(firstSeenAt, block?.timestamp ?? firstSeenAt) <= deadline(before),
    );
    if (history.status === 'completed' && outcome.status === 'reversed') expect(sum(timely)).toBeLessThan(needed);
  });
});

test('nothing expires before its time, nor while the chain or its address is not read that far', () => {
  everyLook(({ before, outcome, now }) => {
    for (const { status, previous } of outcome.steps) {
      if (status !== 'expired' || previous.status === 'expired') continue;
      const isRead = (before.chain.addressReadAt ?? 0) >= deadline(before);
      const earliest = deadline(before) + (isRead ? 0 : unreadHoldMs);
      expect(now).toBeGreaterThanOrEqual(earliest);
      expect(before.chain.caughtUpAt ?? 0).toBeGreaterThanOrEqual(earliest);
      expect(outcome.expiredUnread).toBe(!isRead);
    }
  });
});

test('nothing waits longer than a day and an hour past its time once the chain is read that far', () => {
  everyLook(({ before, outcome, now }) => {
    const clock = Math.min(now, before.chain.caughtUpAt ?? 0);
    if (clock >= deadline(before) + dayMs + unreadHoldMs) expect(outcome.status).not.toBe('pending');
  });
});

test('wakeAt is honest: no step before it, a step at it, and none ever where it is null', () => {
  everyLook(({ after, outcome, now }) => {
    const at = (clock: number, caughtUpAt: number | null, addressReadAt = outcome.wakeAt): Outcome =>
      decide({ ...after, chain: { ...after.chain, caughtUpAt, addressReadAt } }, clock);
    const { wakeAt } = outcome;
    if (wakeAt === null) {
      for (const later of [now + 1, now + 2 * dayMs, now + 400 * dayMs]) expect(at(later, later).steps).toEqual([]);
      return;
    }
    const isRead = (after.chain.addressReadAt ?? 0) >= deadline(after);
    expect(Math.min(now, after.chain.caughtUpAt ?? 0)).toBeLessThan(wakeAt + (isRead ? 0 : unreadHoldMs));
    for (const later of [Math.min(now, wakeAt - 1), wakeAt - 1, wakeAt - 1000])
      expect(at(later, later).steps).toEqual([]);
    expect(at(wakeAt + 400 * dayMs, wakeAt - 1).steps).toEqual([]);
    expect(at(wakeAt - 1, wakeAt + 400 * dayMs).steps).toEqual([]);
    expect(at(wakeAt, wakeAt).steps.map(({ event }) => event)).toEqual(['payment.expired']);
    const heldUntil = wakeAt + unreadHoldMs;
    expect(at(heldUntil - 1, heldUntil, null).steps).toEqual([]);
    expect(at(heldUntil, heldUntil, null)).toMatchObject({ status: 'expired', expiredUnread: true });
  });
});

test('wakeBlock is honest: nothing becomes final before the chain is there, and it is ahead of where the chain is', () => {
  everyLook(({ after, outcome: { wakeBlock }, now }) => {
    const { chain } = after;
    const far = { latest: 1e6, safe: 1e6, finalized: 1e6, agreed: 1e6 };
    const decided = decide(after, now);
    const same = (ahead: typeof far): void => {
      const { amountConfirmed, steps } = decide({ ...after, chain: { ...chain, ...ahead } }, now);
      expect({ amountConfirmed, steps }).toEqual({ amountConfirmed: decided.amountConfirmed, steps: [] });
    };
    if (wakeBlock === null) return same(far);
    expect(chain[wakeBlock.frontier] ?? -1).toBeLessThan(wakeBlock.number);
    same({ ...far, [wakeBlock.frontier]: wakeBlock.number - 1 });
  });
});

test('late funds do not bring back a time that is over, even with unconfirmed funds that were in time', () => {
  const createdAt = 1_700_000_000_000;
  const world = startWorld({
    amount: 1000n,
    toleranceBps: 0,
    dustFloor: 0n,
    tiers: [{ atLeast: 0n, rule: { kind: 'depth', depth: 2 } }],
    latePolicy: 'accept',
    lateWindowSeconds: 172_800,
    createdAt,
    expiresAt: createdAt + 3_600_000,
  });
  world.run({ kind: 'send', amount: 600n });
  world.run({ kind: 'tick', ms: dayMs });
  world.run({ kind: 'poll' });
  world.run({ kind: 'send', amount: 990n });
  world.run({ kind: 'mine', include: 2 });
  expect(world.look().outcome).toMatchObject({ status: 'expired', exception: 'late' });
});

test('a chain that is never reorganised gives the same end, however often the payment is looked at', () => {
  const isOrderly = ({ operation: { kind } }: Move): boolean =>
    !['reorg', 'cancel', 'accept', 'endTime'].includes(kind);
  fc.assert(
    fc.property(terms, moves(50), (frozen, all) => {
      const looking = startWorld(frozen);
      const away = startWorld(frozen);
      let elapsedMs = 0;
      for (const { operation, looks } of all.filter(isOrderly)) {
        // Blocks have whole seconds. In the second in which the time ends, a block would be in time while a poll would
        // already expire the payment, so the order would matter. The clock skips that second.
        const step = operation.kind === 'tick' ? { ...operation } : operation;
        if (step.kind === 'tick') {
          const pastMs = frozen.createdAt + elapsedMs + step.ms - frozen.expiresAt;
          if (pastMs >= 0 && pastMs < 1000) step.ms += 1000;
          elapsedMs += step.ms;
        }
        looking.run(step);
        away.run(step);
        if (looks) looking.look();
      }
      const seen = looking.look().outcome;
      const found = away.look().outcome;
      // A decided completion survives a larger tier. Without a decision in between, the larger tier applies.
      const fromSmallTier = seen.status === 'completed' && found.status === 'confirming' && frozen.tiers.length > 1;
      if (!fromSmallTier) expect([found.status, found.exception]).toEqual([seen.status, seen.exception]);
      expect(found.amountReceived).toBe(seen.amountReceived);
    }),
    { numRuns: rounds(80, 800) },
  );
});

test('the generated histories reach every status, exception and edge', () => {
  const reached = new Set<string>();
  const sample = fc.sample(fc.tuple(terms, moves(50)), { numRuns: 3000, seed: 1 });
  for (const [frozen, all] of sample) {
    const world = startWorld(frozen);
    for (const { operation } of all) {
      world.run(operation);
      for (const { event, status, exception, previous } of world.look().outcome.steps) {
        reached.add(event).add(String(exception));
        if (status !== previous.status) reached.add(`${previous.status}→${status}`);
      }
    }
  }
  expect([...reached].filter(item => item.includes('→'))).toHaveLength(11);
  expect([...reached].filter(item => item.startsWith('payment.'))).toHaveLength(11);
  expect([...reached]).toEqual(expect.arrayContaining(['null', 'reorged', 'late', 'overpaid', 'underpaid']));
});
