import { expect, test } from 'vitest';
import { coinKey, countedTwice } from '../../src/core/coinKey.ts';

const sent = (blockNumber: number, amount: bigint) => ({
  key: `0x${blockNumber}:tx:0`,
  blockNumber,
  amount: `${amount}`,
});
const found = (blockNumber: number, amount: bigint, total: bigint) => ({
  key: coinKey(`0x${blockNumber}`, '0xa', amount, total),
  blockNumber,
  amount: `${amount}`,
});
const earlier = { key: '0x5:delta:0xa:3', blockNumber: 5, amount: '3' };

test.each([
  ['nothing', [], 0],
  ['transactions alone', [sent(1, 5n), sent(2, 5n)], 0],
  ['coin beside earlier and later transactions', [sent(1, 5n), found(3, 2n, 7n), sent(4, 9n)], 0],
  ['two finds in one block, in any order', [found(3, 1n, 8n), sent(1, 5n), found(3, 2n, 7n)], 0],
  ['finds one after the other', [found(3, 2n, 2n), found(6, 2n, 4n)], 0],
  ['a find whose transaction is hidden now', [found(3, 2n, 7n)], 0],
  ['a find of an earlier version', [earlier, sent(1, 5n), found(6, 2n, 10n)], 0],
  ['a transaction that the find includes', [sent(1, 5n), found(3, 5n, 5n)], 1],
  ['one in the same block', [sent(3, 5n), found(3, 5n, 5n)], 1],
  ['one that only the first of two finds includes', [sent(1, 5n), found(3, 5n, 5n), found(6, 1n, 11n)], 1],
  ['one that both include', [sent(1, 5n), found(3, 5n, 5n), found(6, 1n, 6n)], 2],
])('%s', (_, transfers, wrong) => {
  expect(countedTwice(transfers)).toHaveLength(wrong);
}); // biome-ignore format: one line each
