import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvCell, csvLine } from '../../../src/core/csv.ts';

test('a cell is quoted only where it must be', () => {
  expect(csvCell('plain text')).toBe('plain text');
  expect(csvCell('a,b')).toBe('"a,b"');
  expect(csvCell('say "yes" or "no"')).toBe('"say ""yes"" or ""no"""');
  expect(csvCell('a\nb')).toBe('"a\nb"');
  expect(csvCell('a\rb')).toBe('"a\rb"');
});

test('a cell that begins like a formula is text', () => {
  for (const sign of ['=', '+', '-', '@', '\t']) expect(csvCell(`${sign}1`)).toBe(`'${sign}1`);
  expect(csvCell('\r1')).toBe(`"'\r1"`);
  expect(csvCell('1=1+1-1@1')).toBe('1=1+1-1@1');
});

test('a line ends as RFC 4180 says, and what is missing is an empty cell', () => {
  expect(csvLine(['a', null, '', 'b,c'])).toBe('a,,,"b,c"\r\n');
});

/** As a spreadsheet reads it. */
const readLine = (line: string): string[] =>
  [...`,${line.slice(0, -2)}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? plain! : quoted.replaceAll('""', '"'),
  );

test('any texts are read back, but for the sign before a formula', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', ',', '"', '\r', '\n', '=', ' ') });
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1 }), cells => {
      const expected = cells.map(text => (/^[=\r]/.test(text) ? `'${text}` : text));
      expect(readLine(csvLine(cells))).toEqual(expected);
    }),
  );
});
