import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Branch, continueLine, isLost, lineAfter } from '../../../src/core/payment/branches.ts';

const branch = (number: number, previous: number | null, above = 0, orphans: string[] = []): Branch => ({
  number,
  previous,
  above,
  orphans,
});
const all = [branch(10, null), branch(20, 10), branch(30, 20)];
const line = (...branches: Branch[]) => continueLine(lineAfter(branches[0]?.previous ?? 0), branches)!;

describe('branches continue a line', () => {
  test('from any of them to the newest', () => {
    expect(continueLine(lineAfter(0), all)?.newest).toBe(30);
    expect(continueLine(lineAfter(10), all.slice(1))?.newest).toBe(30);
    expect(continueLine(lineAfter(30), [])?.newest).toBe(30);
  });

  test.each<[string, number, readonly Branch[]]>([
    ['the first is missing', 0, all.slice(1)],
    ['one between is missing', 0, [all[0]!, all[2]!]],
    ['the line ends later', 20, [branch(15, 10)]],
    ['it begins anew', 10, [branch(20, null)]],
    ['one has the number of the one before', 10, [branch(10, 10)]],
  ])('not if %s', (_, after, branches) => {
    expect(continueLine(lineAfter(after), branches)).toBeNull();
  });
});

describe('a block is lost', () => {
  const at = { hash: 'a', number: 5, branch: 10 };
  test('if a later branch began below it', () => {
    expect(isLost(at, line(branch(20, 10, 4)))).toBe(true);
    expect(isLost(at, line(branch(20, 10, 5), branch(30, 20, 4)))).toBe(true);
    expect(isLost(at, line(branch(20, 10, 5), branch(30, 20, 8)))).toBe(false);
  });
  test('unless a node has shown it since', () => {
    expect(isLost({ ...at, branch: 20 }, line(branch(20, 10, 4), branch(30, 20, 5)))).toBe(false);
    expect(isLost({ ...at, branch: 20 }, line(branch(20, 10, 4), branch(30, 20, 4)))).toBe(true);
  });
  test('if it was orphaned before there were branches', () => {
    const first = line(branch(10, null, 9, ['b', 'a']), branch(20, 10, 9));
    expect(isLost({ ...at, branch: null }, first)).toBe(true);
    expect(isLost({ ...at, branch: null, hash: 'c' }, first)).toBe(false);
    expect(isLost(at, first)).toBe(false);
  });

  test('exactly if any later branch says so, however the branches came', () => {
    const heights = fc.array(fc.integer({ min: -1, max: 8 }), { maxLength: 30 });
    const cut = fc.nat(30);
    fc.assert(
      fc.property(heights, cut, fc.nat(320), fc.nat(9), (aboves, at, shown, number) => {
        const branches = aboves.map((above, i) => branch((i + 1) * 10, i === 0 ? null : i * 10, above));
        const whole = continueLine(continueLine(lineAfter(0), branches.slice(0, at))!, branches.slice(at))!;
        const simple = branches.some(later => later.number > shown && number > later.above);
        expect(isLost({ hash: 'a', number, branch: shown }, whole)).toBe(simple);
      }),
    );
  });
});
