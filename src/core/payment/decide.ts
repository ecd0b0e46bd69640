import type { Facts, History } from './facts.ts';
import { type AwaitedHeight, awaitedFor, type Confirmations, confirmationsSince, coveringBlock } from './finality.ts';
import { standing, wakeAtOf } from './standing.ts';
import type { PaymentState } from './states.ts';
import { type Tally, tally } from './tally.ts';
import { firstFunds, type Move, moreFunds, strayFunds, walk } from './walk.ts';

/** An entry for the payment's history. `stray` is the key of the stray that it tells of. */
export type Step = Move & { readonly sequence: number; readonly stray: string | null };

export type Outcome = PaymentState & {
  readonly amountReceived: bigint;
  readonly amountConfirmed: bigint;
  readonly confirmations: Confirmations;
  /** Where the confirmations count from; null while the funds do not cover what is needed. */
  readonly coveredNumber: number | null;
  /** In order; empty when there is nothing to tell. */
  readonly steps: readonly Step[];
  readonly completedAt: number | null;
  readonly canceledAt: number | null;
  /** Replaces the history's `settled`. */
  readonly settled: readonly string[];
  /**
   * The answer stays the same, facts unchanged, until both the clock and the chain's `caughtUpAt` have reached this
   * instant. Null when time changes nothing.
   */
  readonly wakeAt: number | null;
  /** The same for the heights of the chain: nothing becomes final before it reaches this one. */
  readonly wakeBlock: AwaitedHeight | null;
};

type Entry = { readonly move: Move; readonly stray: string | null };

const entriesOf = (facts: Facts, sums: Tally, to: PaymentState): readonly Entry[] => {
  const { history, strays } = facts;
  const from: PaymentState = { status: history.status, exception: history.exception };
  const moves: Move[] = !history.detected && sums.anythingSeen ? [firstFunds(from)] : [];
  moves.push(...walk(from, to));
  if (moves.length === 0 && sums.received > history.amountReceived) {
    const more = moreFunds(to);
    if (more !== null) moves.push(more);
  }
  const told = new Set(history.strays);
  const untold = [...new Set(strays.map(({ key }) => key))].filter(key => !told.has(key));
  return [...moves.map(move => ({ move, stray: null })), ...untold.map(stray => ({ move: strayFunds(to), stray }))];
};

/**
 * What a payment is, by its facts, at an instant of the database's clock, and the steps that lead there from what was
 * decided last. Chain events, the clock and the merchant's actions all go through here.
 */
export const decide = (facts: Facts, now: number): Outcome => {
  const { chain, actions, history } = facts;
  const sums = tally(facts);
  const { status, exception } = standing(facts, sums, now);
  const steps = entriesOf(facts, sums, { status, exception }).map(({ move, stray }, index) => ({
    ...move,
    sequence: history.sequence + index + 1,
    stray,
  }));
  const covering = coveringBlock(sums.target, sums.countedTransfers);
  const completes = steps.some(step => step.status === 'completed' && step.previous.status !== 'completed');
  return {
    status,
    exception,
    amountReceived: sums.received,
    amountConfirmed: sums.confirmed,
    confirmations: confirmationsSince(covering, sums.rule, chain),
    coveredNumber: covering?.number ?? null,
    steps,
    completedAt: completes ? now : history.completedAt,
    canceledAt: actions.canceledAt,
    settled: status === 'completed' ? sums.finalKeys : [],
    wakeAt: wakeAtOf(facts, sums, status),
    wakeBlock: sums.firstOpenBlock && awaitedFor(sums.firstOpenBlock, sums.rule, chain),
  };
};

/** The history once the outcome is written. */
export const historyAfter = (history: History, outcome: Outcome): History => ({
  status: outcome.status,
  exception: outcome.exception,
  amountReceived: outcome.amountReceived,
  detected: history.detected || outcome.steps.some(step => step.event === 'payment.detected'),
  completedAt: outcome.completedAt,
  settled: outcome.settled,
  strays: [...history.strays, ...outcome.steps.flatMap(step => (step.stray === null ? [] : [step.stray]))],
  sequence: history.sequence + outcome.steps.length,
});
