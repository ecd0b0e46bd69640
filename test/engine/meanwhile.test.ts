import { expect, test } from 'vitest';
import { meanwhile } from '../../src/engine/meanwhile.ts';

const fail = (message: string) => (): never => {
  throw new Error(message);
};

test('returns both results', async () => {
  expect(await meanwhile(Promise.resolve(1), () => 2)).toEqual([1, 2]);
});

test('ends after the statement, whatever fails', async () => {
  const statement = Promise.withResolvers<void>();
  const steps: string[] = [];
  const both = meanwhile(
    statement.promise.then(() => steps.push('statement')),
    fail('no seal'),
  ).catch(error => steps.push(error.message));
  await new Promise(setImmediate);
  expect(steps).toEqual([]);
  statement.resolve();
  await both;
  expect(steps).toEqual(['statement', 'no seal']);
});

test('reports the fault of the statement first, because others may follow from it', async () => {
  await expect(meanwhile(Promise.reject(new Error('refused')), fail('no seal'))).rejects.toThrow('refused');
});
