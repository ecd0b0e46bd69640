import { describe, expect, test } from 'vitest';
import { type Branch, isLost, isWhole } from '../../../src/core/payment/branches.ts';

const branch = (number: number, previous: number | null, above = 0, orphans: string[] = []): Branch => ({
  number,
  previous,
  above,
  orphans,
});
const all = [branch(10, null), branch(20, 10), branch(30, 20)];

describe('the branches after one are whole', () => {
  test('from any of them to the newest', () => {
    expect(isWhole(all, 0, 30)).toBe(true);
    expect(isWhole(all.slice(1), 10, 30)).toBe(true);
    expect(isWhole([], 30, 30)).toBe(true);
    expect(isWhole([], 0, 0)).toBe(true);
  });

  test.each<[string, readonly Branch[], number, number]>([
    ['the first is missing', all.slice(1), 0, 30],
    ['one between is missing', [all[0]!, all[2]!], 0, 30],
    ['the newest is missing', all.slice(0, 2), 0, 30],
    ['all are missing', [], 10, 30],
    ['the chain has an earlier row', all, 0, 20],
    ['the chain has a row from before there were branches', all, 0, 0],
    ['the chain has an earlier row than a block', [], 30, 20],
  ])('not if %s', (_, branches, after, newest) => {
    expect(isWhole(branches, after, newest)).toBe(false);
  });
});

describe('a block is lost', () => {
  const at = { hash: 'a', number: 5, branch: 10 };
  test('if a later branch began below it', () => {
    expect(isLost(at, [branch(20, 10, 4)])).toBe(true);
    expect(isLost(at, [branch(20, 10, 5), branch(30, 20, 4)])).toBe(true);
    expect(isLost(at, [branch(20, 10, 5), branch(30, 20, 8)])).toBe(false);
  });
  test('unless a node has shown it since', () => {
    expect(isLost({ ...at, branch: 20 }, [branch(20, 10, 4), branch(30, 20, 5)])).toBe(false);
    expect(isLost({ ...at, branch: 20 }, [branch(20, 10, 4), branch(30, 20, 4)])).toBe(true);
  });
  test('if it was orphaned before there were branches', () => {
    expect(isLost({ ...at, branch: 0 }, [branch(10, null, 9, ['b', 'a'])])).toBe(true);
    expect(isLost({ ...at, branch: 0 }, [branch(10, null, 9, ['b'])])).toBe(false);
    expect(isLost(at, [branch(10, null, 9, ['a'])])).toBe(false);
  });
});
