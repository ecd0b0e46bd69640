import { expect, test } from 'vitest';
import { codeOf, hasCode } from '../../src/core/errorCode.ts';

test('the code of an error is the text it carries as code, or empty', () => {
  expect(codeOf(Object.assign(new Error('x'), { code: 'ENOENT' }))).toBe('ENOENT');
  expect(codeOf({ code: '23505' })).toBe('23505');
  for (const none of [new Error('x'), { code: 7 }, null, undefined, 'ENOENT', 7]) expect(codeOf(none)).toBe('');
});

test('an error has one of several codes, and one without a code has none of them', () => {
  const error = { code: 'EEXIST' };
  expect([hasCode(error, 'ENOENT', 'EEXIST'), hasCode(error, 'ENOENT'), hasCode(error)]).toEqual([true, false, false]);
  expect(hasCode(new Error('x'), 'ENOENT')).toBe(false);
});
