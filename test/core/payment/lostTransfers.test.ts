import { describe, expect, test } from 'vitest';
import { broughtBack, lostAfter } from '../../../src/core/payment/lostTransfers.ts';

const at = (key: string, { canonical = true, stray = false } = {}) => ({
  key,
  blockHash: `block of ${key}`,
  canonical,
  stray,
});
const step = (gone: readonly string[], shown: readonly string[] = []) => ({
  gone,
  shown: new Set(shown.map(key => `block of ${key}`)),
});

describe('what a payment has lost', () => {
  test('is nothing, usually', () => {
    expect(lostAfter(null, [at('a')], step([], ['a']))).toBeNull();
  });
  test('grows with each reorganization, in one order and without repetitions', () => {
    expect(lostAfter(null, [], step(['b', 'a']))).toBe('a b');
    expect(lostAfter('b', [], step(['a', 'b']))).toBe('a b');
  });
  test('is found again in a block that nodes showed', () => {
    expect(lostAfter('a b', [at('a')], step([], ['a', 'b']))).toBe('b');
    expect(lostAfter('a', [at('a')], step([], ['a']))).toBeNull();
  });
  test('stays lost while nobody showed its block, or while it does not count there', () => {
    expect(lostAfter('a', [at('a')], step([], ['other']))).toBe('a');
    expect(lostAfter('a', [at('a', { canonical: false })], step([], ['a']))).toBe('a');
  });
});

test('a lost transfer that counts was brought back by nobody who may', () => {
  const transfers = [at('a'), at('b', { canonical: false }), at('c', { stray: true }), at('d')];
  expect(broughtBack('a b c', transfers).map(({ key }) => key)).toEqual(['a']);
  expect(broughtBack(null, transfers)).toEqual([]);
});
