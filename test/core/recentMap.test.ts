import { describe, expect, test } from 'vitest';
import { createRecentMap } from '../../src/core/recentMap.ts';

const byLength = (_key: string, value: string): number => value.length;

describe('createRecentMap', () => {
  test('forgets the entry that was not used for longest', () => {
    const map = createRecentMap<number>(3);
    for (const [i, key] of ['a', 'b', 'c'].entries()) map.set(key, i);
    expect(map.get('a')).toBe(0);
    map.set('d', 3);
    expect(['a', 'b', 'c', 'd'].map(key => map.get(key))).toEqual([0, undefined, 2, 3]);
  });

  test('passes a used entry over once, and then counts it as the newest', () => {
    const map = createRecentMap<number>(3);
    for (const key of ['a', 'b', 'c']) map.set(key, 0);
    map.get('a');
    for (const [next, forgotten] of [
      ['d', 'b'],
      ['e', 'c'],
      ['f', 'd'],
      ['g', 'a'],
    ] as const) {
      map.set(next, 0);
      expect(map.get(forgotten), forgotten).toBeUndefined();
    }
    expect(['e', 'f', 'g'].map(key => map.get(key))).toEqual([0, 0, 0]);
  });

  test('keeps an entry that takes all the room', () => {
    const map = createRecentMap<string>(10, byLength);
    map.set('a', 'x'.repeat(10));
    expect(map.get('a')).toBe('x'.repeat(10));
  });

  test('goes by weight, and makes as much room as is needed', () => {
    const map = createRecentMap<string>(10, byLength);
    for (const key of ['a', 'b', 'c', 'd', 'e']) map.set(key, 'xx');
    map.set('f', 'xxxxx');
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map(key => map.get(key))).toEqual([
      undefined,
      undefined,
      undefined,
      'xx',
      'xx',
      'xxxxx',
    ]);
  });

  test('counts a replaced entry once, whatever it weighed before', () => {
    const map = createRecentMap<string>(10, byLength);
    map.set('a', 'x');
    for (let i = 0; i < 100; i++) map.set('b', 'x'.repeat(1 + (i % 9)));
    expect(map.get('a')).toBe('x');
    map.delete('b');
    map.delete('b');
    map.set('c', 'x'.repeat(9));
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual(['x', undefined, 'x'.repeat(9)]);
  });

  test('what is too heavy is not kept and pushes nothing out, but ends what its key had', () => {
    const map = createRecentMap<string>(10, byLength);
    map.set('a', 'x');
    map.set('b', 'x');
    map.set('b', 'x'.repeat(11));
    expect([map.get('a'), map.get('b')]).toEqual(['x', undefined]);
  });
});
