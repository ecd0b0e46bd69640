import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkJson, memberSource } from '../../src/core/json.ts';
import { rounds } from '../support/rounds.ts';

const parse = (text: string): { readonly value: unknown } | null => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
};

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

const stringsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return [...Object.keys(value), ...Object.values(value).flatMap(stringsOf)];
};

/** How many members the text writes, duplicates included: colons outside strings. */
const writtenMembers = (text: string): number => text.replace(/"(?:[^"\\]|\\.)*"/gs, '""').split(':').length - 1;
const keptMembers = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value).reduce((sum: number, item) => sum + keptMembers(item), 0);
  return inner + (Array.isArray(value) ? 0 : Object.keys(value).length);
};

/** The expected result of `checkJson`, computed with `JSON.parse`. */
const isAcceptable = (text: string, maxDepth: number): boolean => {
  const parsed = parse(text);
  if (parsed === null || !text.isWellFormed()) return false;
  if (!stringsOf(parsed.value).every(item => item.isWellFormed())) return false;
  return depthOf(parsed.value) <= maxDepth && writtenMembers(text) === keptMembers(parsed.value);
};

const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\t', '\r'), maxLength: 2 });
const stringToken = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }).map(value => JSON.stringify(value)),
  fc.constantFrom(
    '"a"',
    '"\\u0061"',
    '"A"',
    '"\\u0041"',
    '"\\ud83d\\ude00"',
    '"\u{1f600}"',
    '"\\/"',
    '"/"',
    '"__proto__"',
    '"0"',
  ),
);
const oddString = fc.constantFrom(
  '"\\ud800"',
  '"\\udc00x"',
  '"\ud800"',
  '"\udc00"',
  '"\ud83d\\ude00"',
  '"\\ud83d\ude00"',
);
const numberToken = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('0', '-0', '1.0', '1e400', '1E+2', '0.10', '12345678901234567890', '-1.5e-7'),
);

/** JSON text with free white space, often with duplicate keys, and with lone surrogates when `odd`. */
const jsonText = (odd: boolean): fc.Arbitrary<string> => {
  const text = odd
    ? fc.oneof({ weight: 12, arbitrary: stringToken }, { weight: 1, arbitrary: oddString })
    : stringToken;
  return fc.letrec<{ value: string }>(tie => {
    const member = fc.tuple(space, text, space, space, tie('value'), space);
    const element = fc.tuple(space, tie('value'), space).map(parts => parts.join(''));
    return {
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.oneof(text, numberToken, fc.constantFrom('true', 'false', 'null')),
        fc.array(element, { maxLength: 4 }).map(items => `[${items.join(',')}]`),
        fc.array(member, { maxLength: 12 }).map(members => {
          const written = members.map(([a, key, b, c, value, d]) => `${a}${key}${b}:${c}${value}${d}`);
          return `{${written.join(',')}}`;
        }),
      ),
    };
  }).value;
};

const mutation = fc.record({
  at: fc.nat(400),
  drop: fc.nat(2),
  add: fc.constantFrom(
    '',
    '"',
    '\\',
    ',',
    ':',
    '{',
    '}',
    '[',
    ']',
    '0',
    '.',
    'e',
    '-',
    '+',
    ' ',
    '\u0000',
    '\u00a0',
    '\ufeff',
    't',
    '\ud800',
    '\\u',
    '\u2028',
  ),
});

describe('checkJson', () => {
  test('accepts what JSON.parse accepts, without duplicate keys, lone surrogates and too deep nesting', () => {
    fc.assert(
      fc.property(jsonText(true), fc.integer({ min: 0, max: 6 }), (text, maxDepth) => {
        expect(checkJson(text, { maxDepth }).ok).toBe(isAcceptable(text, maxDepth));
      }),
      { numRuns: rounds(200, 2000) },
    );
  });

  test('agrees with JSON.parse on damaged text', () => {
    fc.assert(
      fc.property(jsonText(false), fc.array(mutation, { minLength: 1, maxLength: 3 }), (text, mutations) => {
        let damaged = text;
        for (const { at, drop, add } of mutations) {
          const place = at % (damaged.length + 1);
          damaged = damaged.slice(0, place) + add + damaged.slice(place + drop);
        }
        const check = checkJson(damaged, { maxDepth: 8 });
        expect(check.ok).toBe(isAcceptable(damaged, 8));
        if (!check.ok && check.reason === 'syntax') expect(parse(damaged)).toBeNull();
      }),
      { numRuns: rounds(300, 3000) },
    );
  });

  test('agrees with JSON.parse on short strings of JSON characters', () => {
    const unit = fc.constantFrom(...'{}[]",:\\ \n0129.eE+-truefalsn/u'.split(''));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), text => {
        expect(checkJson(text, { maxDepth: 20 }).ok).toBe(isAcceptable(text, 20));
      }),
      { numRuns: rounds(2000, 20_000) },
    );
  });

  test.each([
    ['', 'syntax', undefined],
    ['\ufeff{}', 'syntax', undefined],
    ['{} {}', 'syntax', undefined],
    ['[1,]', 'syntax', undefined],
    ['{"a":1,}', 'syntax', undefined],
    ['{"a" 1}', 'syntax', undefined],
    ['[01]', 'syntax', undefined],
    ['[1}', 'syntax', undefined],
    ['"\t"', 'syntax', undefined],
    ['"\\ud83"', 'syntax', undefined],
    ['{"a":1,"b":2,"a":3}', 'duplicate_key', 'a'],
    ['{"x":[{"k":1},{"k":1,"\\u006b":2}]}', 'duplicate_key', 'x.1.k'],
    ['{"a":1,"b":{"c":"\\ud800"}}', 'unicode', 'b.c'],
    ['{"a":1,"b":{"c":1,"\ud800":2}}', 'unicode', 'b'],
    ['{"a":{"b":[[]]}}', 'depth', 'a.b.0'],
    ['"\ud83d\\ude00"', 'unicode', undefined],
    [`{"${'k'.repeat(300)}":1,"${'k'.repeat(300)}":2}`, 'duplicate_key', undefined],
  ])('%j is refused: %s at %s', (text, reason, path) => {
    expect(checkJson(text, { maxDepth: 3 })).toEqual(
      path === undefined ? { ok: false, reason } : { ok: false, reason, path },
    );
    if (reason === 'depth') expect(checkJson(text, { maxDepth: 4 })).toEqual({ ok: true });
  });

  test('finds the one duplicate among many keys', () => {
    const keys = Array.from({ length: 5000 }, (_, index) => `"${index}":0`);
    expect(checkJson(`{${keys.join(',')}}`, { maxDepth: 1 })).toEqual({ ok: true });
    expect(checkJson(`{${keys.join(',')},"\\u0034999":0}`, { maxDepth: 1 })).toEqual({
      ok: false,
      reason: 'duplicate_key',
      path: '4999',
    });
  });

  test('a container nested a hundred thousand times costs no stack', () => {
    const depth = 100_000;
    expect(checkJson('['.repeat(depth) + ']'.repeat(depth), { maxDepth: depth })).toEqual({ ok: true });
    expect(checkJson('{"a":'.repeat(depth), { maxDepth: depth })).toEqual({ ok: false, reason: 'syntax' });
    expect(checkJson('[{"a":'.repeat(depth), { maxDepth: 16 }).ok).toBe(false);
  });
});

describe('memberSource', () => {
  test('is the source of the member, white space aside', () => {
    const text =
      ' { "other" : [ "metadata", {"metadata" : 0} ] , "m\\u0065tadata" : { "b" : 1.0 , "a b" : [ 1e2, "\\u0041 b" ] } } ';
    const source = '{"b":1.0,"a b":[1e2,"\\u0041 b"]}';
    expect(memberSource(text, 'metadata')).toEqual({ source, depth: 2 });
    expect(memberSource('{"a":1 }', 'a')).toEqual({ source: '1', depth: 0 });
    expect(memberSource('{"a":"x","b":-0.10}', 'b')).toEqual({ source: '-0.10', depth: 0 });
    expect(memberSource('{"a":"[[","b":[]}', 'a')).toEqual({ source: '"[["', depth: 0 });
    expect(memberSource('{"a":[[],{"b":[]}],"b":[[[[]]]]}', 'a')).toEqual({ source: '[[],{"b":[]}]', depth: 3 });
    expect(memberSource('{"a":{}}', 'b')).toBeNull();
    expect(memberSource('{}', 'a')).toBeNull();
    expect(memberSource('["a"]', 'a')).toBeNull();
    expect(memberSource('"a"', 'a')).toBeNull();
  });

  test('parses to the member, and writes each token as it was', () => {
    const withoutSpace = (text: string): string =>
      text.replace(/("(?:[^"\\]|\\.)*")|[ \n\r\t]+/gs, (_, token: string | undefined) => token ?? '');
    fc.assert(
      fc.property(jsonText(false), text => {
        fc.pre(isAcceptable(text, 100));
        const value = JSON.parse(text) as unknown;
        if (typeof value !== 'object' || value === null || Array.isArray(value)) {
          expect(memberSource(text, 'a')).toBeNull();
          return;
        }
        const sources = Object.keys(value).map(key => memberSource(text, key)?.source);
        expect(sources.map(source => JSON.parse(source ?? '') as unknown)).toEqual(Object.values(value));
        for (const source of sources) expect(withoutSpace(text)).toContain(source);
        for (const source of sources) expect(withoutSpace(source ?? '')).toBe(source);
        for (const key of Object.keys(value)) {
          const { source, depth } = memberSource(text, key)!;
          expect([depth, depth - 1].map(maxDepth => checkJson(source, { maxDepth }).ok)).toEqual([true, depth === 0]);
        }
      }),
      { numRuns: rounds(100, 1000) },
    );
  });

  test('ends on any text, checked or not', () => {
    const unit = fc.constantFrom(...'{}[]",:\\ a1'.split(''));
    fc.assert(fc.property(fc.string({ unit, maxLength: 20 }), text => void memberSource(`{${text}`, 'a')));
  });
});
