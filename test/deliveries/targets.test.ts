import { describe, expect, test } from 'vitest';
import type { ActiveAttempt, Sendable } from '../../src/workers/targetState.ts';
import { createTargets } from '../../src/workers/targets.ts';
import { claim, claimAll, due, makeFast, targetOf, wants } from './targetPlay.ts';

describe('a target that nothing is known of', () => {
  test('is asked for a few first attempts and a retry once it is heard of, and then for no more', () => {
    const targets = createTargets();
    expect(wants(targets)).toEqual([]);
    targets.notify(targetOf('a'));
    const request = targets.nextClaim(0, 200);
    expect(request.wants).toEqual([{ ...targetOf('a'), first: 4, retries: 1 }]);
    expect(wants(targets)).toEqual([]);
    targets.claimSucceeded(request, [], 0);
    expect(wants(targets)).toEqual([]);
  });

  test('is asked for again when it was heard of while it was being asked for', () => {
    const targets = createTargets();
    targets.notify(targetOf('a'));
    const request = targets.nextClaim(0, 200);
    targets.notify(targetOf('a'));
    targets.claimSucceeded(request, [], 0);
    expect(wants(targets)).toMatchObject([{ target: 'a', first: 4 }]);
  });

  test('is asked for again when it was heard of while all its room was taken', () => {
    const targets = createTargets();
    targets.notify(targetOf('a'));
    const attempts = claim(targets, new Map([['a', due('a', 4)]]), 0);
    expect(attempts).toHaveLength(4);
    expect(claim(targets, new Map(), 0)).toEqual([]);
    targets.notify(targetOf('a'));
    expect(wants(targets)).toEqual([{ ...targetOf('a'), first: 0, retries: 1 }]);
    for (const attempt of attempts) targets.attemptEnded(attempt, true, 1);
    expect(wants(targets)[0]!.first).toBeGreaterThan(0);
  });

  test('is asked for again when request failed', () => {
    const targets = createTargets();
    targets.notify(targetOf('a'));
    targets.claimFailed(targets.nextClaim(0, 200));
    expect(wants(targets)).toMatchObject([{ target: 'a', first: 4, retries: 1 }]);
  });

  test('has all its places taken also when its deliveries come one by one', () => {
    const targets = createTargets();
    const attempts: ActiveAttempt<Sendable>[] = [];
    for (let i = 0; i < 8; i++) {
      targets.notify(targetOf('a'));
      attempts.push(...claimAll(targets, new Map([['a', due('a', 1)]]), i));
    }
    expect(attempts).toHaveLength(4);
  });

  test('is asked for as long as as many come as were asked for', () => {
    const targets = createTargets();
    targets.notify(targetOf('a'));
    const store = new Map([['a', due('a', 11)]]);
    let sent = 0;
    for (let round = 0; round < 20; round++) {
      for (const attempt of claim(targets, store, round)) {
        sent += 1;
        expect(targets.attemptEnded(attempt, true, round)).toEqual([]);
      }
    }
    expect(sent).toBe(11);
    expect(wants(targets)).toEqual([]);
  });

  test('whose deliveries are refused keeps no room for them, and is asked for more', () => {
    const targets = createTargets();
    targets.notify(targetOf('a'));
    const refused = due('a', 4).map(each => ({ ...each, refusal: 'the endpoint is disabled' }));
    expect(claim(targets, new Map([['a', refused]]), 0)).toEqual([]);
    expect(wants(targets)).toEqual([{ ...targetOf('a'), first: 4, retries: 0 }]);
  });
});

describe('first attempts and retries', () => {
  test('have limits of their own: a backlog of retries takes no place of a first attempt', () => {
    const targets = createTargets();
    targets.notify(targetOf('a'));
    const store = new Map([['a', due('a', 100, 3)]]);
    expect(claim(targets, store, 0).map(({ kind }) => kind)).toEqual(['retries']);
    store.set('a', due('a', 2));
    targets.notify(targetOf('a'));
    expect(claim(targets, store, 0).map(({ kind }) => kind)).toEqual(['first', 'first']);
  });

  test('the ones that are drained are not asked for because the others are not', () => {
    const targets = createTargets();
    targets.notify(targetOf('a'));
    claim(targets, new Map([['a', due('a', 100, 3)]]), 0);
    // The running retry uses its only slot, and there are no first attempts.
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
    targets.notify(targetOf('a'));
    const flying = new Set<ActiveAttempt<Sendable>>();
    let most = 0;
    const fly = (attempts: ActiveAttempt<Sendable>[]) => {
      for (const attempt of attempts) flying.add(attempt);
      most = Math.max(most, flying.size);
    };
    for (let nowMs = 0; store.get('a')!.length > 0; nowMs++) {
      fly(claim(targets, store, nowMs));
      for (const attempt of [...flying].slice(0, 8)) {
        flying.delete(attempt);
        fly(targets.attemptEnded(attempt, true, nowMs));
      }
    }
    expect(most).toBe(64);
    expect(targets.takeReturned()).toEqual([]);
  });

  test('but fails now and then is sent less at a time, and still gets all', () => {
    const targets = createTargets();
    makeFast(targets, 'a', 10);
    targets.notify(targetOf('a'));
    const [before] = wants(targets);
    targets.notify(targetOf('a'));
    const [attempt] = claim(targets, new Map([['a', due('a', 1)]]), 0);
    targets.attemptEnded(attempt!, false, 1);
    targets.notify(targetOf('a'));
    const [after] = wants(targets, 1);
    expect(after!.first).toBeLessThan(before!.first);
    expect(after!.first).toBeGreaterThan(0);
  });
});

describe('the order', () => {
  test('is in turn: who has much does not keep others from being asked for', () => {
    const targets = createTargets();
    for (const name of ['a', 'b', 'c']) targets.notify(targetOf(name));
    const asked: string[] = [];
    for (let i = 0; i < 6; i++) {
      const request = targets.nextClaim(0, 5);
      asked.push(...request.wants.map(({ target }) => target));
      const claimed = request.wants.flatMap(({ target, first, retries }) => [
        ...due(target, first),
        ...due(target, retries, 1),
      ]);
      for (const attempt of targets.claimSucceeded(request, claimed, 0)) targets.attemptEnded(attempt, true, 0);
    }
    expect(asked).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  test('no more are wanted than asked for in all', () => {
    const targets = createTargets();
    for (let i = 0; i < 100; i++) targets.notify(targetOf(`t${i}`));
    const total = targets.nextClaim(0, 33).wants.reduce((sum, { first, retries }) => sum + first + retries, 0);
    expect(total).toBe(33);
    // The targets that had no slot are next.
    expect(wants(targets)[0]!.target).toBe('t7');
  });
});

describe('memory', () => {
  test('idle targets are forgotten past a bound, those with something to do are not', () => {
    const targets = createTargets();
    for (let i = 0; i < 30_000; i++) targets.notify(targetOf(`t${i}`));
    expect(targets.size()).toBe(30_000);
    targets.tick(0);
    expect(targets.size()).toBe(30_000);
    for (let drained = 0; drained < 30_000; ) {
      const request = targets.nextClaim(0, 200);
      drained += request.wants.length;
      targets.claimSucceeded(request, [], 0);
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
      targets.notify(targetOf(name));
      for (const attempt of claim(targets, new Map([[name, due(name, 3)]]), nowMs))
        targets.attemptEnded(attempt, false, nowMs);
      nowMs += 20_000;
      targets.tick(nowMs);
      claim(targets, new Map(), nowMs);
    }
    targets.tick(nowMs);
    expect(targets.size()).toBeLessThanOrEqual(10_000);
  });
});
