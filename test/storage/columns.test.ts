import { expect, test } from 'vitest';
import { assignments, columns, type Fields, namesOf } from '../../src/storage/columns.ts';

type Line = { readonly id: string; readonly amount: bigint };
const amount: Fields<Line> = { amount: ['numeric', line => line.amount.toString()] };
const fields: Fields<Line> = { id: ['text', line => line.id], ...amount };

test('names, types and values of columns have one order', () => {
  const lines = columns<Line>(fields, { first: 2 });
  expect(lines.rows('i')).toBe('unnest($2::text[], $3::numeric[]) as i(id, amount)');
  expect(`${lines.unnest} ${lines.names}`).toBe('unnest($2::text[], $3::numeric[]) id, amount');
  expect(lines.next).toBe(4);
  const two = [
    { id: 'a', amount: 1n },
    { id: 'b', amount: 2n },
  ];
  expect(lines.values(two)).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ]);
  expect(lines.values([])).toEqual([[], []]);
});

test('a column has a parameter of its own', () => {
  const lines = columns<Line>(fields);
  expect(lines.array('amount')).toBe('$2::numeric[]');
  expect(() => lines.array('sum')).toThrow('no column sum');
});

test('the length of the first array can be hidden', () => {
  const lines = columns<Line>(fields, { hidesLength: true });
  expect(lines.rows('i')).toBe('unnest((select $1::text[]), $2::numeric[]) as i(id, amount)');
});

test('an update assigns the columns by name', () => {
  expect(assignments(fields, 'c')).toBe('id = c.id, amount = c.amount');
  expect(namesOf(amount)).toBe('amount');
});
