import { deriveState, isAddressRead, wakeAtOf } from './deriveState.ts';
import { isDust } from './dust.ts';
import type { Facts, History } from './facts.ts';
import { type AwaitedHeight, awaitedFor, type Confirmations, confirmationsSince, coveringBlock } from './finality.ts';
import type { PaymentState } from './states.ts';
import { type Tally, tally } from './tally.ts';
import { firstFunds, type Move, moreFunds, strayFunds, walk } from './walk.ts';

/** An entry of the payment's history. `stray` is the key of the stray it reports. */
export type Step = Move & { readonly sequence: number; readonly stray: string | null };

export type Outcome = PaymentState & {
  readonly amountReceived: bigint;
  readonly amountConfirmed: bigint;
  readonly confirmations: Confirmations;
  /** The block that confirmations count from. Null while the funds do not cover the target. */
  readonly coveredNumber: number | null;
  /** In order. Empty if nothing is to be reported. */
  readonly steps: readonly Step[];
  readonly completedAt: number | null;
  readonly canceledAt: number | null;
  /** Replaces the history's `settled`. */
  readonly settled: readonly string[];
  /**
   * With unchanged facts the outcome stays the same until both the clock and the chain's `caughtUpAt` reach this time,
   * and an hour more if the balances of the address have not been read since. Null if time changes nothing.
   */
  readonly wakeAt: number | null;
  /** At `wakeAt`, the balances of the address must be read first. */
  readonly awaitsRead: boolean;
  /** Expired although the balances of its address were not read, or did not agree. */
  readonly expiredUnread: boolean;
  /** The same for chain heights: nothing more becomes final before the chain reaches this one. */
  readonly wakeBlock: AwaitedHeight | null;
};

type Entry = { readonly move: Move; readonly stray: string | null };

const entriesOf = (facts: Facts, sums: Tally, to: PaymentState): readonly Entry[] => {
  const { terms, history, strays } = facts;
  const from: PaymentState = { status: history.status, exception: history.exception };
  const moves: Move[] = !history.detected && sums.anythingSeen ? [firstFunds(from)] : [];
  moves.push(...walk(from, to));
  const added = sums.received - history.amountReceived;
  if (moves.length === 0 && added > 0n && !isDust(terms, added)) {
    const more = moreFunds(to);
    if (more !== null) moves.push(more);
  }
  const reported = new Set(history.strays);
  const unreported = [...new Set(strays.map(({ key }) => key))].filter(key => !reported.has(key));
  return [...moves.map(move => ({ move, stray: null })), ...unreported.map(stray => ({ move: strayFunds(to), stray }))];
};

/**
 * Derives a payment's state from its facts at a time of the database's clock, with the steps that lead there from the
 * last decision. Chain events, the clock and merchant actions all go through here.
 */
export const decide = (facts: Facts, now: number): Outcome => {
  const { chain, actions, history } = facts;
  const sums = tally(facts);
  const { status, exception } = deriveState(facts, sums, now);
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
    awaitsRead: status === 'pending' && !isAddressRead(facts),
    expiredUnread: status === 'expired' && !isAddressRead(facts),
    wakeBlock: sums.firstOpenBlock && awaitedFor(sums.firstOpenBlock, sums.rule, chain),
  };
};

/** The history after the outcome is written. */
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
