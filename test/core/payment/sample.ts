import type { Actions, ChainFacts, Facts, History, Terms, Transfer } from '../../../src/core/payment/facts.ts';
import { freshHistory } from '../../../src/core/payment/facts.ts';

export const createdAt = 1_700_000_000_000;
export const expiresAt = createdAt + 3_600_000;
export const dayMs = 86_400_000;

const terms: Terms = {
  amount: 1000n,
  toleranceBps: 0,
  dustFloor: 0n,
  tiers: [{ atLeast: 0n, rule: { kind: 'depth', depth: 3 } }],
  latePolicy: 'accept',
  lateWindowSeconds: 30 * 86_400,
  createdAt,
  expiresAt,
};

type Parts = {
  readonly terms?: Partial<Terms>;
  readonly transfers?: readonly Transfer[];
  readonly strays?: Facts['strays'];
  readonly chain?: Partial<ChainFacts>;
  readonly actions?: Partial<Actions>;
  readonly history?: Partial<History>;
};

/** A payment of 1000 at depth 3, an hour to pay, on a chain whose last block is 100. */
export const sampleFacts = (parts: Parts = {}): Facts => ({
  terms: { ...terms, ...parts.terms },
  transfers: parts.transfers ?? [],
  strays: parts.strays ?? [],
  chain: {
    latest: 100,
    safe: 98,
    finalized: 90,
    agreed: 100,
    caughtUpAt: createdAt,
    addressReadAt: expiresAt,
    ...parts.chain,
  },
  actions: { canceledAt: null, accepted: null, timeEndedAt: null, ...parts.actions },
  history: { ...freshHistory, ...parts.history },
});

/** A transfer that arrived at `at` in the block of that height, or is unconfirmed when there is none. */
export const sampleTransfer = (
  amount: bigint,
  height: number | null,
  at: number = createdAt + 1000,
  more: Partial<Transfer> = {},
): Transfer => {
  const key = `${height ?? 'unconfirmed'}/${amount}/${at}`;
  const block = height === null ? null : { number: height, hash: `block-${height}`, timestamp: at };
  return {
    key,
    hash: `tx-${key}`,
    amount,
    firstSeenAt: at,
    block,
    canonical: true,
    verified: true,
    ...more,
  };
};
