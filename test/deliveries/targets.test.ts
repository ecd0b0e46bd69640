import { describe, expect, test } from 'vitest';
import type { Flight, Sendable } from '../../src/workers/targetState.ts';
import { createTargets } from '../../src/workers/targets.ts';
import { claim, claimAll, due, makeFast, targetOf, wants } from './targetPlay.ts';

describe('a target that nothing is known of', () => {
  test('is asked for a few first attempts and a retry once it is heard of, and then for no more', () => {
    const targets = createTargets();
    expect(wants(targets)).toEqual([]);
    targets.hear(targetOf('a'));
    const asking = targets.wanted(0, 200);
    expect(asking.wants).toEqual([{ ...targetOf('a'), first: 4, retries: 1 }]);
    expect(wants(targets)).toEqual([]);
    targets.asked(asking, [], 0);
    expect(wants(targets)).toEqual([]);
  });

  test('is asked for again when it was heard of while it was being asked for', () => {
    const targets = createTargets();
    targets.hear(targetOf('a'));
    const asking = targets.wanted(0, 200);
    targets.hear(targetOf('a'));
    targets.asked(asking, [], 0);
    expect(wants(targets)).toMatchObject([{ target: 'a', first: 4 }]);
  });

  test('is asked for again when it was heard of while all its room was taken', () => {
    const targets = createTargets();
    targets.hear(targetOf('a'));
    const flights = claim(targets, new Map([['a', due('a', 4)]]), 0);
    expect(flights).toHaveLength(4);
    expect(claim(targets, new Map(), 0)).toEqual([]);
    targets.hear(targetOf('a'));
    expect(wants(targets)).toEqual([{ ...targetOf('a'), first: 0, retries: 1 }]);
    for (const flight of flights) targets.landed(flight, true, 1);
    expect(wants(targets)[0]!.first).toBeGreaterThan(0);
  });

  test('is asked for again when asking failed', () => {
    const targets = createTargets();
    targets.hear(targetOf('a'));
    targets.unasked(targets.wanted(0, 200));
    expect(wants(targets)).toMatchObject([{ target: 'a', first: 4, retries: 1 }]);
  });

  test('has all its places taken also when its deliveries come one by one', () => {
    const targets = createTargets();
    const flights: Flight<Sendable>[] = [];
    for (let i = 0; i < 8; i++) {
      targets.hear(targetOf('a'));
      flights.push(...claimAll(targets, new Map([['a', due('a', 1)]]), i));
    }
    expect(flights).toHaveLength(4);
  });

  test('is asked for as long as as many come as were asked for', () => {
    const targets = createTargets();
    targets.hear(targetOf('a'));
    const store = new Map([['a', due('a', 11)]]);
    let sent = 0;
    for (let round = 0; round < 20; round++) {
      for (const flight of claim(targets, store, round)) {
        sent += 1;
        expect(targets.landed(flight, true, round)).toEqual([]);
      }
    }
    expect(sent).toBe(11);
    expect(wants(targets)).toEqual([]);
  });

  test('whose deliveries are refused keeps no room for them, and is asked for more', () => {
    const targets = createTargets();
    targets.hear(targetOf('a'));
    const refused = due('a', 4).map(each => ({ ...each, refusal: 'the endpoint is disabled' }));
    expect(claim(targets, new Map([['a', refused]]), 0)).toEqual([]);
    expect(wants(targets)).toEqual([{ ...targetOf('a'), first: 4, retries: 0 }]);
  });
});

describe('first attempts and retries', () => {
  test('have limits of their own: a backlog of retries takes no place of a first attempt', () => {
    const targets = createTargets();
    targets.hear(targetOf('a'));
    const store = new Map([['a', due('a', 100, 3)]]);
    expect(claim(targets, store, 0).map(({ kind }) => kind)).toEqual(['retries']);
    store.set('a', due('a', 2));
    targets.hear(targetOf('a'));
    expect(claim(targets, store, 0).map(({ kind }) => kind)).toEqual(['first', 'first']);
  });

  test('the ones that are drained are not asked for because the others are not', () => {
    const targets = createTargets();
    targets.hear(targetOf('a'));
    claim(targets, new Map([['a', due('a', 100, 3)]]), 0);
    // The retry in the air fills its place; first attempts there are none.
    for (let nowMs = 0; nowMs < 900; nowMs += 100) {
      targets.tick(nowMs);
      expect(wants(targets, nowMs)).toEqual([]);
    }
  });
});

describe('a target that answers', () => {
  test('may have ever more in the air, up to a bound, and the next ones claimed before', () => {
    const targets = createTargets();
    const store = new Map([['a', due('a', 5_000)]]);
    targets.hear(targetOf('a'));
    const flying = new Set<Flight<Sendable>>();
    let most = 0;
    const fly = (flights: Flight<Sendable>[]) => {
      for (const flight of flights) flying.add(flight);
      most = Math.max(most, flying.size);
    };
    for (let nowMs = 0; store.get('a')!.length > 0; nowMs++) {
      fly(claim(targets, store, nowMs));
      for (const flight of [...flying].slice(0, 8)) {
        flying.delete(flight);
        fly(targets.landed(flight, true, nowMs));
      }
    }
    expect(most).toBe(64);
    expect(targets.takeReturned()).toEqual([]);
  });

  test('but fails now and then is sent less at a time, and still gets all', () => {
    const targets = createTargets();
    makeFast(targets, 'a', 10);
    targets.hear(targetOf('a'));
    const [before] = wants(targets);
    targets.hear(targetOf('a'));
    const [flight] = claim(targets, new Map([['a', due('a', 1)]]), 0);
    targets.landed(flight!, false, 1);
    targets.hear(targetOf('a'));
    const [after] = wants(targets, 1);
    expect(after!.first).toBeLessThan(before!.first);
    expect(after!.first).toBeGreaterThan(0);
  });
});

describe('the order', () => {
  test('is in turn: who has much does not keep others from being asked for', () => {
    const targets = createTargets();
    for (const name of ['a', 'b', 'c']) targets.hear(targetOf(name));
    const asked: string[] = [];
    for (let i = 0; i < 6; i++) {
      const asking = targets.wanted(0, 5);
      asked.push(...asking.wants.map(({ target }) => target));
      const claimed = asking.wants.flatMap(({ target, first, retries }) => [
        ...due(target, first),
        ...due(target, retries, 1),
      ]);
      for (const flight of targets.asked(asking, claimed, 0)) targets.landed(flight, true, 0);
    }
    expect(asked).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  test('no more are wanted than asked for in all', () => {
    const targets = createTargets();
    for (let i = 0; i < 100; i++) targets.hear(targetOf(`t${i}`));
    const total = targets.wanted(0, 33).wants.reduce((sum, { first, retries }) => sum + first + retries, 0);
    expect(total).toBe(33);
    // Those that had no place are next.
    expect(wants(targets)[0]!.target).toBe('t7');
  });
});

describe('memory', () => {
  test('idle targets are forgotten past a bound, those with something to do are not', () => {
    const targets = createTargets();
    for (let i = 0; i < 30_000; i++) targets.hear(targetOf(`t${i}`));
    expect(targets.size()).toBe(30_000);
    targets.tick(0);
    expect(targets.size()).toBe(30_000);
    for (let drained = 0; drained < 30_000; ) {
      const asking = targets.wanted(0, 200);
      drained += asking.wants.length;
      targets.asked(asking, [], 0);
    }
    targets.tick(1);
    expect(targets.size()).toBe(10_000);
    expect(wants(targets)).toEqual([]);
  });

  test('targets that fail are forgotten as well once nothing is due for them', () => {
    const targets = createTargets();
    let nowMs = 0;
    for (let i = 0; i < 12_000; i++) {
      const name = `t${i}`;
      targets.hear(targetOf(name));
      for (const flight of claim(targets, new Map([[name, due(name, 3)]]), nowMs)) targets.landed(flight, false, nowMs);
      nowMs += 20_000;
      targets.tick(nowMs);
      claim(targets, new Map(), nowMs);
    }
    targets.tick(nowMs);
    expect(targets.size()).toBeLessThanOrEqual(10_000);
  });
});
