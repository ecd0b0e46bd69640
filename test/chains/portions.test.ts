import { expect, test } from 'vitest';
import { inPortions } from '../../src/chains/evm/readAhead.ts';
import type { Movement, WatchedBlock } from '../../src/core/chain.ts';

const movement: Movement = {
  key: 'key',
  txHash: null,
  from: null,
  to: 'to',
  contract: null,
  amount: 1n,
  verified: true,
};
const blockOf = (count: number, number: number): WatchedBlock => ({
  number,
  hash: `${number}`,
  parentHash: `${number - 1}`,
  timestamp: 0,
  movements: Array.from({ length: count }, () => movement),
  forwards: [],
});
const portions = (counts: readonly number[]): number[][] =>
  inPortions(counts.map(blockOf)).map(blocks => blocks.map(({ number }) => number));

test.each([
  ['none of nothing', [], []],
  ['what is little is one step', [0, 10, 4_990, 0], [[0, 1, 2, 3]]],
  ['what is too much is several, in order', [3_000, 2_001, 2_999, 1], [[0], [1, 2], [3]]],
  ['a block is never cut', [1, 20_000, 1], [[0], [1], [2]]],
])('%s', (_, counts, steps) => {
  expect(portions(counts)).toEqual(steps);
});
