import { mostUnits } from '../money.ts';
import { isDust } from './dust.ts';
import type { BlockRef, ConfirmationRule, Facts, Terms, Transfer } from './facts.ts';
import { isFinal, ruleFor } from './finality.ts';

type Included = Transfer & { readonly block: BlockRef };

/** Sums of the transfers under the terms, in base units. All are exact up to `mostUnits` and capped there. */
export type Tally = {
  readonly rule: ConfirmationRule;
  /** The sum that must be final for completion. */
  readonly target: bigint;
  /** All funds in canonical blocks, and the final part of them. */
  readonly received: bigint;
  readonly confirmed: bigint;
  /** The parts of `received` that arrived in time and late. */
  readonly inTime: bigint;
  readonly late: bigint;
  /** The part that may complete the payment, and the final part of that. */
  readonly counted: bigint;
  readonly countedFinal: bigint;
  readonly countedTransfers: readonly Included[];
  /** Unconfirmed funds that were first seen in time. */
  readonly unconfirmedInTime: bigint;
  /** Whether more than dust was seen, unconfirmed or in a block. */
  readonly anythingSeen: boolean;
  readonly finalKeys: readonly string[];
  /** The lowest block of the transfers that are not final yet but verified. */
  readonly firstOpenBlock: BlockRef | null;
};

/**
 * The largest difference from the amount that counts as exact payment. Rounded down, so never in the payer's favour.
 */
export const toleranceOf = (terms: Terms): bigint => (terms.amount * BigInt(terms.toleranceBps)) / 10_000n;

export const deadlineOf = (facts: Facts): number =>
  Math.min(facts.terms.expiresAt, facts.actions.timeEndedAt ?? facts.terms.expiresAt);

/** Transfers of zero are not funds: anyone can send one to any address. */
const isLive = (transfer: Transfer): boolean => transfer.canonical && transfer.amount > 0n;
const isIncluded = (transfer: Transfer): transfer is Included => transfer.block !== null && isLive(transfer);

const arrivedAt = (transfer: Transfer): number =>
  transfer.block === null ? transfer.firstSeenAt : Math.min(transfer.firstSeenAt, transfer.block.timestamp);

const sumOf = (transfers: readonly Transfer[]): bigint => {
  const sum = transfers.reduce((total, { amount }) => total + amount, 0n);
  return sum > mostUnits ? mostUnits : sum;
};

/**
 * A merchant who accepts a sum accepts everything that has arrived. Otherwise lateness and the frozen policy decide.
 */
const isCounted = (facts: Facts, transfer: Included): boolean => {
  const { terms, actions } = facts;
  const lateBy = arrivedAt(transfer) - deadlineOf(facts);
  if (actions.accepted !== null || lateBy <= 0) return true;
  return terms.latePolicy === 'accept' && lateBy <= terms.lateWindowSeconds * 1000;
};

/** Unconfirmed transfers whose transaction is not in a canonical block. */
const unconfirmedOf = (transfers: readonly Transfer[], included: readonly Included[]): readonly Transfer[] => {
  const unconfirmed = transfers.filter(transfer => transfer.block === null && isLive(transfer));
  if (unconfirmed.length === 0) return unconfirmed;
  const mined = new Set(included.map(({ hash }) => hash));
  return unconfirmed.filter(({ hash }) => !mined.has(hash));
};

/**
 * The final transfers. Transfers that were final at completion stay final while their block is canonical and the
 * completion holds: neither a shorter head during an unrelated reorg nor a larger tier after an overpayment takes a
 * completion back. If the completion no longer holds, only the rule counts.
 */
const finalOf = (facts: Facts, included: readonly Included[], rule: ConfirmationRule, target: bigint) => {
  const settled = new Set(facts.history.settled);
  const isFinalByRule = ({ block, verified }: Included): boolean => verified && isFinal(block, rule, facts.chain);
  const final = included.filter(transfer => settled.has(transfer.key) || isFinalByRule(transfer));
  const holds = sumOf(final.filter(transfer => isCounted(facts, transfer))) >= target;
  return holds || settled.size === 0 ? final : final.filter(isFinalByRule);
};

const lowestBlock = (transfers: readonly Included[]): BlockRef | null =>
  transfers.reduce<BlockRef | null>(
    (lowest, { block }) => (lowest === null || block.number < lowest.number ? block : lowest),
    null,
  );

export const tally = (facts: Facts): Tally => {
  const { terms, transfers, actions } = facts;
  const deadline = deadlineOf(facts);
  const target = actions.accepted?.amount ?? terms.amount - toleranceOf(terms);
  const included = transfers.filter(isIncluded);
  const unconfirmed = unconfirmedOf(transfers, included);
  const seen = [...included, ...unconfirmed];
  const received = sumOf(included);
  const rule = ruleFor(terms, received);
  const final = finalOf(facts, included, rule, target);
  const inTime = sumOf(included.filter(transfer => arrivedAt(transfer) <= deadline));
  const finalKeys = new Set(final.map(({ key }) => key));
  const countedTransfers = included.filter(transfer => isCounted(facts, transfer));
  return {
    rule,
    target,
    received,
    confirmed: sumOf(final),
    inTime,
    late: received - inTime,
    counted: sumOf(countedTransfers),
    countedFinal: sumOf(final.filter(transfer => isCounted(facts, transfer))),
    countedTransfers,
    unconfirmedInTime: sumOf(unconfirmed.filter(transfer => arrivedAt(transfer) <= deadline)),
    anythingSeen: seen.length > 0 && !isDust(terms, sumOf(seen)),
    finalKeys: [...finalKeys],
    firstOpenBlock: lowestBlock(included.filter(({ key, verified }) => verified && !finalKeys.has(key))),
  };
};
