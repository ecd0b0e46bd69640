import { expect, test } from 'vitest';
import { createFloors } from '../../src/storage/floors.ts';

const version = (number: bigint, text: string | null = null) => ({ number, text });

test('what is from before the floor is earlier, and so is another text of the same number', () => {
  const floors = createFloors();
  expect(floors.isEarlier('one', version(1n), floors.now())).toBe(false);
  floors.raise('one', version(5n, 'a'));
  const judge = (number: bigint, text: string | null) => floors.isEarlier('one', version(number, text), floors.now());
  expect([judge(4n, 'a'), judge(5n, 'b'), judge(5n, 'a'), judge(5n, null), judge(6n, 'b')]).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(floors.isEarlier('another', version(1n), floors.now())).toBe(false);
});

test('nothing lowers a floor, and a text that was not known is filled in', () => {
  const floors = createFloors();
  floors.raise('one', version(5n));
  floors.raise('one', version(5n, 'a'));
  floors.raise('one', version(5n, 'b'));
  floors.raise('one', version(4n, 'c'));
  expect(floors.of('one')).toMatchObject(version(5n, 'a'));
});

test('a statement that was under way when the floor was raised may have read the row of before', () => {
  const floors = createFloors();
  floors.raise('one', version(5n, 'a'));
  const began = floors.now();
  floors.raise('one', version(6n, 'b'));
  expect(floors.isEarlier('one', version(5n, 'a'), began)).toBe(false);
  expect(floors.isEarlier('one', version(5n, 'a'), floors.now())).toBe(true);
});
