import { expect, test } from 'vitest';
import { createBatcher } from '../../src/engine/batch.ts';

type Options = { maxItems?: number; maxWaiting?: number; onTakeOff?: () => void };

/** Doubles each number, one turn of the event loop later, and records the batch sizes. */
const createDoubler = ({ onTakeOff = () => {}, ...options }: Options = {}) => {
  const carried: number[] = [];
  const double = createBatcher<number, number>({
    maxItems: 100,
    maxWaiting: 1_000,
    overloaded: () => new Error('too many'),
    ...options,
    async run(items) {
      carried.push(items.length);
      onTakeOff();
      await new Promise(resolve => setImmediate(resolve));
      if (items.includes(-1)) throw new Error('lost');
      return items.map(item => (item === 13 ? new Error('unlucky') : 2 * item));
    },
  });
  return { carried, double };
};

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

test('who asks in the same turn travels together, and each gets its own answer', async () => {
  const { carried, double } = createDoubler();
  expect(await Promise.all(numbers(10).map(double))).toEqual(numbers(10).map(n => 2 * n));
  expect(carried).toEqual([10]);
});

test('no flight carries more than it may, and nobody is left behind', async () => {
  const { carried, double } = createDoubler({ maxItems: 4 });
  expect(await Promise.all(numbers(10).map(double))).toEqual(numbers(10).map(n => 2 * n));
  expect(carried).toEqual([4, 4, 2]);
});

test('an error is its caller’s alone, a fault that of all in the flight', async () => {
  const { double } = createDoubler();
  const [fine, unlucky] = await Promise.allSettled([double(12), double(13)]);
  expect([fine.status, unlucky.status]).toEqual(['fulfilled', 'rejected']);
  const lost = await Promise.allSettled([double(12), double(-1)]);
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await double(4)).toBe(8);
});

test('more than may wait are refused at once', async () => {
  const { carried, double } = createDoubler({ maxWaiting: 3 });
  const asked = await Promise.allSettled(numbers(5).map(double));
  expect(asked.filter(({ status }) => status === 'rejected')).toHaveLength(2);
  expect(carried).toEqual([3]);
});

test('those who were answered together travel together again, with whoever asked meanwhile', async () => {
  const latecomer = Promise.withResolvers<number>();
  const { carried, double } = createDoubler({
    onTakeOff() {
      if (carried.length === 1) latecomer.resolve(double(50));
    },
  });
  const askTwice = async (caller: number): Promise<number> => double(await double(caller));
  const answers = await Promise.all([...numbers(4).map(askTwice), latecomer.promise]);
  expect(answers).toEqual([...numbers(4).map(n => 4 * n), 100]);
  expect(carried).toEqual([4, 5]);
});
