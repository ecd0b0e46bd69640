import { describe, expect, test } from 'vitest';
import { linkFault, linkOf } from '../../src/chains/linkage.ts';
import type { Block } from '../../src/core/chain.ts';

const block = (number: number, branch = 'a', parentBranch = branch): Block => ({
  number,
  hash: `${branch}${number}`,
  parentHash: `${parentBranch}${number - 1}`,
  timestamp: number,
});
const cursor = block(10);

describe('how a head stands to the cursor', () => {
  test.each<[string, Block | null, Block, string]>([
    ['its child', null, block(11), 'extends'],
    ['the child of another block', null, block(11, 'b'), 'fork'],
    ['the child of ours, whatever its own hash', null, block(11, 'b', 'a'), 'extends'],
    ['the same block', null, block(10), 'known'],
    ['another block at its height', null, block(10, 'b'), 'fork'],
    ['two above', null, block(12), 'gap'],
    ['two above, on whatever branch', null, block(12, 'b'), 'gap'],
    ['below, and stored', block(7), block(7), 'known'],
    ['below, and stored as another one', block(7), block(7, 'b'), 'fork'],
    ['below what is kept: a lower head is evidence of nothing', null, block(2, 'b'), 'known'],
  ])('%s', (_, stored, head, link) => expect(linkOf(cursor, stored, head)).toBe(link));
});

describe('a run of blocks', () => {
  test('follows on its parent', () => {
    expect(linkFault(cursor, [])).toBe(null);
    expect(linkFault(cursor, [block(11), block(12), block(13)])).toBe(null);
    expect(linkFault(cursor, [block(11, 'b', 'a'), block(12, 'b')])).toBe(null);
  });

  test.each<[string, Block[], number]>([
    ['begins too high', [block(12)], 12],
    ['begins where it should end', [block(10)], 10],
    ['is of another branch', [block(11, 'b')], 11],
    ['has a gap', [block(11), block(13)], 13],
    ['has a block twice', [block(11), block(11)], 11],
    ['changes its branch', [block(11), block(12, 'b')], 12],
  ])('that %s is named', (_, blocks, number) => expect(linkFault(cursor, blocks)).toContain(`block ${number} `));
});
