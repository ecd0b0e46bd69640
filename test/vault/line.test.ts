import { expect, test } from 'vitest';
import { createLine } from '../../src/vault/line.ts';
import { type Rank, ranks } from '../../src/vault/passwords.ts';

class Full extends Error {}

const lineOf = (places: number, maxWaiting: number) => {
  const line = createLine<Rank>({ ranks, places, maxWaiting, full: () => new Full() });
  const order: string[] = [];
  const enter = (rank: Rank, name: string): Promise<unknown> =>
    line.enter(rank).then(
      () => order.push(name),
      () => order.push(`${name} refused`),
    );
  return { line, order, enter };
};

test('known devices come first, addresses that failed come last and make room', async () => {
  const { line, order, enter } = lineOf(2, 3);
  await Promise.all([enter('failed', 'running 1'), enter('failed', 'running 2')]);
  const failed = ['failed 1', 'failed 2', 'failed 3'].map(name => enter('failed', name));
  const others = [enter('new', 'new'), enter('known', 'known')];
  for (const _ of [1, 2, 3]) line.leave();
  await Promise.all([...failed, ...others]);
  expect(order.slice(0, 2)).toEqual(['running 1', 'running 2']);
  expect(order.filter(each => each.endsWith('refused'))).toEqual(['failed 3 refused', 'failed 2 refused']);
  expect(order.slice(2).filter(each => !each.endsWith('refused'))).toEqual(['known', 'new', 'failed 1']);
});

test('a full line refuses whoever has no one below them', async () => {
  const { order, enter } = lineOf(1, 1);
  await enter('known', 'running');
  void enter('known', 'waiting');
  await enter('known', 'one more');
  await enter('failed', 'the last');
  expect(order).toEqual(['running', 'one more refused', 'the last refused']);
});

test('a place that is left goes to the next in line, and is free when nobody waits', async () => {
  const { line, order, enter } = lineOf(1, 1);
  await enter('known', 'first');
  const second = enter('failed', 'second');
  line.leave();
  await second;
  line.leave();
  await enter('new', 'third');
  expect(order).toEqual(['first', 'second', 'third']);
});
