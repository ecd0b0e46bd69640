import fc from 'fast-check';
import { decide, historyAfter, type Outcome } from '../../../src/core/payment/decide.ts';
import type { Actions, Facts, History, Stray, Terms, Transfer } from '../../../src/core/payment/facts.ts';
import { freshHistory } from '../../../src/core/payment/facts.ts';
import { cancelRefusal, resolveRefusal } from '../../../src/core/payment/refusals.ts';
import { createdAt, dayMs, expiresAt } from './sample.ts';

/** A small chain, a mempool, a clock and a merchant. Each operation changes the facts as the real ones would. */
export type Operation =
  | { readonly kind: 'send'; readonly amount: bigint; readonly doubtful?: boolean }
  | { readonly kind: 'mine'; readonly include: number }
  | { readonly kind: 'reorg'; readonly depth: number; readonly keep: number }
  | { readonly kind: 'drop' }
  | { readonly kind: 'tags'; readonly safeLag: number; readonly finalizedLag: number }
  | { readonly kind: 'agree'; readonly lag: number }
  | { readonly kind: 'verify' }
  | { readonly kind: 'tick'; readonly ms: number }
  | { readonly kind: 'poll' }
  | { readonly kind: 'readAddress' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'accept' }
  | { readonly kind: 'endTime' }
  | { readonly kind: 'stray' };

/** An operation, and whether the payment is decided after it. */
export type Move = { readonly operation: Operation; readonly looks: boolean };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send'),
      amount: fc.constantFrom(0n, 1n, 2n, 4n, 9n, 400n, 600n, 990n, 1000n, 2500n),
      doubtful: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('mine'), include: fc.nat(7) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('reorg'), depth: fc.integer({ min: 1, max: 6 }), keep: fc.nat(7) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('tags'), safeLag: fc.nat(2), finalizedLag: fc.nat(4) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('agree'), lag: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('verify') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('tick'),
      ms: fc.constantFrom(1, 1000, 1_800_000, 3_600_000, dayMs, 31 * dayMs),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('poll') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('readAddress') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('accept') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('endTime') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stray') }) },
) as fc.Arbitrary<Operation>;

export const moves = (maxLength: number): fc.Arbitrary<readonly Move[]> =>
  fc.array(fc.record({ operation, looks: fc.boolean() }), { maxLength, size: 'max' });

export const terms: fc.Arbitrary<Terms> = fc.record({
  amount: fc.constant(1000n),
  toleranceBps: fc.constantFrom(0, 0, 100, 500),
  dustFloor: fc.constantFrom(0n, 3n, 10n, 500n),
  tiers: fc.constantFrom<Terms['tiers'][]>(
    [{ atLeast: 0n, rule: { kind: 'depth', depth: 2 } }],
    [{ atLeast: 0n, rule: { kind: 'safe' } }],
    [{ atLeast: 0n, rule: { kind: 'finalized' } }],
    [
      { atLeast: 1500n, rule: { kind: 'finalized', depth: 4 } },
      { atLeast: 0n, rule: { kind: 'depth', depth: 1 } },
    ],
  ),
  latePolicy: fc.constantFrom('accept', 'manual'),
  lateWindowSeconds: fc.constantFrom(0, 2 * 86_400, 30 * 86_400),
  createdAt: fc.constant(createdAt),
  expiresAt: fc.constant(expiresAt),
});

type Sent = { readonly hash: string; readonly amount: bigint; readonly firstSeenAt: number };
type Block = { readonly hash: string; readonly timestamp: number; readonly sent: readonly Sent[] };

export type World = {
  readonly facts: () => Facts;
  readonly now: () => number;
  readonly run: (operation: Operation) => void;
  /** Decides, keeps the outcome as history and returns both sides of it. */
  readonly look: () => { readonly before: Facts; readonly outcome: Outcome; readonly after: Facts };
};

export const startWorld = (frozen: Terms): World => {
  const chain: Block[] = [{ hash: 'genesis', timestamp: createdAt - 1000, sent: [] }];
  const orphans: Transfer[] = [];
  const strays: Stray[] = [];
  let mempool: Sent[] = [];
  let tags: Record<'safe' | 'finalized' | 'agreed', number | null> = { safe: null, finalized: null, agreed: null };
  const doubtful = new Set<string>();
  let now = createdAt;
  let caughtUpAt: number | null = null;
  let addressReadAt: number | null = null;
  let actions: Actions = { canceledAt: null, accepted: null, timeEndedAt: null };
  let history: History = freshHistory;
  let serial = 0;

  const transfersOf = (block: Block, number: number, canonical: boolean): readonly Transfer[] =>
    block.sent.map(({ hash, amount, firstSeenAt }) => {
      const { hash: blockHash, timestamp } = block;
      const at = { number, hash: blockHash, timestamp };
      const verified = !doubtful.has(hash);
      return { key: `${blockHash}/${hash}`, hash, amount, firstSeenAt, block: at, canonical, verified };
    });
  const facts = (): Facts => ({
    terms: frozen,
    transfers: [
      ...chain.flatMap((block, number) => transfersOf(block, number, true)),
      ...mempool.map(sent => ({
        ...sent,
        key: `mempool/${sent.hash}`,
        block: null,
        canonical: true,
        verified: true,
      })),
      ...orphans,
    ],
    strays: [...strays],
    chain: { latest: chain.length - 1, ...tags, caughtUpAt, addressReadAt },
    actions,
    history,
  });

  const mine = (include: number): void => {
    const isIncluded = (_: Sent, index: number): boolean => ((include >> (index % 3)) & 1) === 1;
    const sent = mempool.filter(isIncluded);
    mempool = mempool.filter((item, index) => !isIncluded(item, index));
    chain.push({ hash: `block-${++serial}`, timestamp: Math.floor(now / 1000) * 1000, sent });
  };
  const reorg = (depth: number, keep: number): void => {
    for (let left = Math.min(depth, chain.length - 1); left > 0; left--) {
      const number = chain.length - 1;
      const block = chain.pop();
      if (block === undefined) return;
      orphans.push(...transfersOf(block, number, false));
      mempool.push(...block.sent.filter((_, index) => ((keep >> (index % 3)) & 1) === 1));
    }
    const head = chain.length - 1;
    tags = {
      safe: tags.safe === null ? null : Math.min(tags.safe, head),
      finalized: tags.finalized === null ? null : Math.min(tags.finalized, head),
      agreed: tags.agreed === null ? null : Math.min(tags.agreed, head),
    };
  };
  const look: World['look'] = () => {
    const before = facts();
    const outcome = decide(before, now);
    history = historyAfter(history, outcome);
    return { before, outcome, after: facts() };
  };
  const run = (step: Operation): void => {
    switch (step.kind) {
      case 'send':
        mempool.push({ hash: `tx-${++serial}`, amount: step.amount, firstSeenAt: now });
        if (step.doubtful) doubtful.add(`tx-${serial}`);
        return;
      case 'mine':
        mine(step.include);
        return;
      case 'reorg':
        reorg(step.depth, step.keep);
        return;
      case 'drop':
        mempool = mempool.slice(1);
        return;
      case 'tags': {
        const height = (lag: number, old: number | null): number => Math.max(old ?? 0, chain.length - 1 - lag);
        const { safeLag, finalizedLag } = step;
        tags = { ...tags, safe: height(safeLag, tags.safe), finalized: height(finalizedLag, tags.finalized) };
        return;
      }
      case 'agree':
        tags = { ...tags, agreed: Math.max(tags.agreed ?? 0, chain.length - 1 - step.lag) };
        return;
      case 'verify':
        doubtful.clear();
        return;
      case 'tick':
        now += step.ms;
        return;
      case 'poll':
        caughtUpAt = now;
        return;
      case 'readAddress':
        addressReadAt = caughtUpAt;
        return;
      case 'cancel':
        if (cancelRefusal(facts()) === null) actions = { ...actions, canceledAt: now };
        return;
      case 'accept': {
        if (resolveRefusal(facts()) !== null) return;
        actions = { ...actions, accepted: { amount: decide(facts(), now).amountReceived, at: now } };
        return;
      }
      case 'endTime':
        actions = { ...actions, timeEndedAt: actions.timeEndedAt ?? now };
        return;
      case 'stray':
        strays.push({ key: `stray-${++serial}` });
        return;
    }
  };
  return { facts, now: () => now, run, look };
};

/** Merchant actions decide at once, in their own transaction. Other changes may be decided later. */
export const mustLook = ({ kind }: Operation): boolean => kind === 'cancel' || kind === 'accept';
