import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ActiveAttempt, Sendable } from '../../src/workers/targetState.ts';
import { createTargets } from '../../src/workers/targets.ts';
import { rounds } from '../support/rounds.ts';
import { claim, claimAll, due, makeFast, type Store, type Targets, takeFrom, targetOf, wants } from './targetPlay.ts';

const failAll = (targets: Targets, attempts: readonly ActiveAttempt<Sendable>[], nowMs: number) =>
  attempts.flatMap(attempt => targets.attemptEnded(attempt, false, nowMs));

/** Three failures in a row, all at the time 0. */
const makeFailing = (targets: Targets, name: string): void => {
  targets.notify(targetOf(name));
  const attempts = claim(targets, new Map([[name, due(name, 4)]]), 0);
  failAll(targets, attempts, 0);
};

describe('a target that keeps failing', () => {
  test('is not asked for until its pause is over, and then for one of each kind', () => {
    const targets = createTargets();
    makeFailing(targets, 'a');
    for (const nowMs of [0, 100, 999]) {
      targets.notify(targetOf('a'));
      targets.tick(nowMs);
      expect(wants(targets, nowMs)).toEqual([]);
    }
    targets.tick(1_000);
    expect(wants(targets, 1_000)).toEqual([{ ...targetOf('a'), first: 1, retries: 1 }]);
  });

  test('is probed at once when somebody asks for it, and a failure of that begins the next pause', () => {
    const targets = createTargets();
    makeFailing(targets, 'a');
    targets.resume(targetOf('a'), 10);
    targets.notify(targetOf('a'));
    const probes = claim(targets, new Map([['a', due('a', 100)]]), 10);
    expect(probes).toHaveLength(1);
    targets.resume(targetOf('a'), 20);
    expect(claim(targets, new Map([['a', due('a', 100)]]), 20)).toHaveLength(0);
    failAll(targets, probes, 30);
    for (const nowMs of [30, 2_029]) {
      targets.tick(nowMs);
      expect(wants(targets, nowMs)).toEqual([]);
    }
    targets.tick(2_030);
    expect(wants(targets, 2_030)).toMatchObject([{ first: 1 }]);
  });

  test('has a probe in the air at a time, and pauses that double up to a bound', () => {
    const targets = createTargets();
    makeFailing(targets, 'a');
    const store = new Map([['a', due('a', 500, 2)]]);
    targets.notify(targetOf('a'));
    const probedMs: number[] = [];
    let inTheAir: ActiveAttempt<Sendable>[] = [];
    for (let nowMs = 0; nowMs <= 60_000; nowMs += 100) {
      targets.tick(nowMs);
      const attempts = claim(targets, store, nowMs);
      if (attempts.length > 0) probedMs.push(nowMs);
      inTheAir.push(...attempts);
      expect(inTheAir.length).toBeLessThanOrEqual(1);
      // Each probe hangs for half a second.
      const over = inTheAir.filter(({ atMs }) => nowMs - atMs >= 500);
      inTheAir = inTheAir.filter(attempt => !over.includes(attempt));
      expect(failAll(targets, over, nowMs)).toEqual([]);
    }
    const gaps = probedMs.slice(1).map((atMs, i) => atMs - probedMs[i]!);
    expect(gaps).toEqual([2_500, 4_500, 8_500, 10_500, 10_500, 10_500, 10_500]);
  });

  test('pauses once for all that were in the air when it began to fail', () => {
    const targets = createTargets();
    makeFast(targets, 'a', 60);
    targets.notify(targetOf('a'));
    const attempts = claim(targets, new Map([['a', due('a', 64)]]), 0);
    expect(attempts).toHaveLength(64);
    failAll(targets, attempts, 10);
    targets.notify(targetOf('a'));
    targets.tick(1_009);
    expect(wants(targets, 1_009)).toEqual([]);
    targets.tick(1_010);
    expect(wants(targets, 1_010)).toHaveLength(1);
  });

  test('drains at once when a probe succeeds', () => {
    const targets = createTargets();
    makeFailing(targets, 'a');
    const store = new Map([['a', due('a', 500)]]);
    targets.notify(targetOf('a'));
    targets.tick(1_000);
    let attempts = claim(targets, store, 1_000);
    expect(attempts).toHaveLength(1);
    let rounds = 0;
    // No time passes from here on.
    while (attempts.length > 0) {
      rounds += 1;
      attempts = attempts.flatMap(attempt => targets.attemptEnded(attempt, true, 1_000));
      attempts.push(...claim(targets, store, 1_000));
    }
    expect(store.get('a')).toEqual([]);
    expect(rounds).toBeLessThan(30);
  });

  test('has not failed by attempts that say nothing of it', () => {
    const targets = createTargets();
    makeFast(targets, 'a', 4);
    for (let i = 0; i < 10; i++) {
      targets.notify(targetOf('a'));
      const attempts = claim(targets, new Map([['a', due('a', 8)]]), i);
      expect(attempts).toHaveLength(8);
      for (const attempt of attempts) expect(targets.attemptEnded(attempt, null, i)).toEqual([]);
    }
    makeFailing(targets, 'b');
    targets.notify(targetOf('b'));
    targets.tick(1_000);
    for (const attempt of claim(targets, new Map([['b', due('b', 1)]]), 1_000))
      targets.attemptEnded(attempt, null, 1_000);
    targets.notify(targetOf('b'));
    expect(wants(targets, 1_000)).toEqual([{ ...targetOf('b'), first: 1, retries: 1 }]);
  });

  test('gives back what was claimed ahead for it', () => {
    const targets = createTargets();
    makeFast(targets, 'a', 8);
    targets.notify(targetOf('a'));
    const attempts = claim(targets, new Map([['a', due('a', 100)]]), 0);
    expect(attempts).toHaveLength(12);
    const more = failAll(targets, attempts.slice(0, 3), 5);
    expect(more).toEqual([]);
    expect(targets.takeReturned()).toHaveLength(36);
    expect(targets.takeReturned()).toEqual([]);
    failAll(targets, attempts.slice(3), 6);
    targets.tick(5_000);
    expect(wants(targets, 5_000)).toMatchObject([{ target: 'a', first: 1 }]);
  });
});

describe('a target that hangs', () => {
  test('gives back what was claimed ahead for it, and is then sent little at a time', () => {
    const targets = createTargets();
    makeFast(targets, 'a', 8);
    targets.notify(targetOf('a'));
    const attempts = claim(targets, new Map([['a', due('a', 100)]]), 0);
    targets.tick(999);
    expect(targets.takeReturned()).toEqual([]);
    targets.tick(1_000);
    expect(targets.takeReturned()).toHaveLength(36);
    expect(wants(targets, 1_000)).toEqual([]);
    for (const attempt of attempts) targets.attemptEnded(attempt, true, 1_500);
    expect(wants(targets, 1_500)).toMatchObject([{ first: 4 }]);
  });

  test('takes no room of others: any number of new ones that hang leaves room for the next', () => {
    const targets = createTargets();
    let flying = 0;
    for (let second = 0; second < 5; second++) {
      for (let i = 0; i < 100; i++) targets.notify(targetOf(`t${second}-${i}`));
      const store = new Map(
        Array.from({ length: 100 }, (_, i) => [`t${second}-${i}`, due(`t${second}-${i}`, 9)] as const),
      );
      const took = claimAll(targets, store, second * 1_000).length;
      expect(took).toBe(256);
      flying += took;
      targets.tick(second * 1_000 + 1_000);
    }
    expect(flying).toBe(5 * 256);
  });

  test('does not keep those who answer from being asked for', () => {
    const targets = createTargets();
    targets.notify(targetOf('live'));
    for (const attempt of claim(targets, new Map([['live', due('live', 4)]]), 0))
      targets.attemptEnded(attempt, true, 1);
    claim(targets, new Map(), 0);
    for (let i = 0; i < 1_000; i++) targets.notify(targetOf(`t${i}`));
    const store = new Map(Array.from({ length: 1_000 }, (_, i) => [`t${i}`, due(`t${i}`, 9)] as const));
    claimAll(targets, store, 0);
    targets.notify(targetOf('live'));
    expect(wants(targets)).toMatchObject([{ target: 'live' }]);
  });

  test('stays slow while one of its attempts hangs, though others are answered', () => {
    const targets = createTargets();
    const claimOne = (nowMs: number): ActiveAttempt<Sendable> => {
      targets.notify(targetOf('a'));
      return claimAll(targets, new Map([['a', due('a', 1)]]), nowMs)[0]!;
    };
    const hanging = claimOne(0);
    const others = [claimOne(900), claimOne(900)];
    targets.tick(1_000);
    for (const attempt of others) targets.attemptEnded(attempt, true, 1_001);
    targets.notify(targetOf('a'));
    const request = targets.nextClaim(1_001, 200);
    expect(request.wants).toMatchObject([{ target: 'a', first: 3 }]);
    targets.claimSucceeded(request, [], 1_001);
    // After that, it is as fast as its answers.
    targets.attemptEnded(hanging, true, 1_500);
    targets.attemptEnded(claimOne(1_500), true, 1_600);
    targets.notify(targetOf('a'));
    expect(wants(targets, 1_600)[0]!.first).toBeGreaterThan(4);
  });
});

test('what was claimed long ago does not take off any more', () => {
  const targets = createTargets();
  targets.notify(targetOf('a'));
  const request = targets.nextClaim(0, 200);
  expect(targets.claimSucceeded(request, due('a', 4), 20_001)).toEqual([]);
  expect(targets.takeReturned()).toHaveLength(4);
  expect(wants(targets, 20_001)).toMatchObject([{ target: 'a', first: 4 }]);
});

test('a target that wants no more gives back what waits for it', () => {
  const targets = createTargets();
  makeFast(targets, 'a', 4);
  targets.notify(targetOf('a'));
  const attempts = claim(targets, new Map([['a', due('a', 50)]]), 0);
  targets.close(targetOf('a'));
  expect(targets.takeReturned()).toHaveLength(24);
  for (const attempt of attempts) expect(targets.attemptEnded(attempt, true, 1)).toEqual([]);
});

test('nor is anything sent to it that was being asked for, or asked for again, until that is written down', () => {
  const targets = createTargets();
  targets.notify(targetOf('a'));
  const request = targets.nextClaim(0, 100);
  expect(request.wants).toMatchObject([{ target: 'a', first: 4 }]);
  targets.close(targetOf('a'));
  expect(targets.claimSucceeded(request, due('a', 4), 1)).toEqual([]);
  expect(targets.takeReturned()).toHaveLength(4);
  targets.notify(targetOf('a'));
  expect(wants(targets, 2)).toEqual([]);
  targets.closeRecorded(targetOf('a'));
  expect(wants(targets, 3)).toMatchObject([{ target: 'a', first: 4 }]);
});

test('whatever happens, all is sent in the end, within the limits and without request in vain', () => {
  const names = ['a', 'b', 'c', 'd'];
  const event = fc.record({
    name: fc.constantFrom(...names),
    firsts: fc.integer({ min: 0, max: 40 }),
    retries: fc.integer({ min: 0, max: 40 }),
    isHeard: fc.boolean(),
    lands: fc.integer({ min: 0, max: 20 }),
    failsIn10: fc.integer({ min: 0, max: 10 }),
    passesMs: fc.constantFrom(0, 1, 50, 1_000, 15_000),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), events => {
      const targets = createTargets();
      const store: Store = new Map(names.map(name => [name, []]));
      const flying: ActiveAttempt<Sendable>[] = [];
      let [nowMs, made, sent, vain] = [0, 0, 0, 0];
      const step = (): void => {
        for (const each of targets.takeReturned()) store.get(each.target)!.push(each);
        const request = targets.nextClaim(nowMs, 50);
        if (request.wants.length === 0) return;
        const claimed = takeFrom(store, request.wants);
        if (claimed.length === 0) vain += 1;
        flying.push(...targets.claimSucceeded(request, claimed, nowMs));
      };
      const land = (isDelivered: boolean): void => {
        const attempt = flying.shift();
        if (!attempt) return;
        if (isDelivered) sent += 1;
        else store.get(attempt.delivery.target)!.push({ ...attempt.delivery, failures: attempt.delivery.failures + 1 });
        flying.push(...targets.attemptEnded(attempt, isDelivered, nowMs));
        for (const name of names) {
          const open = flying.filter(({ delivery }) => delivery.target === name);
          expect(open.filter(({ kind }) => kind === 'first').length).toBeLessThanOrEqual(64);
          expect(open.filter(({ kind }) => kind === 'retries').length).toBeLessThanOrEqual(16);
        }
      };
      for (const { name, firsts, retries, isHeard, lands, failsIn10, passesMs } of events) {
        store.get(name)!.push(...due(name, firsts), ...due(name, retries, 1));
        made += firsts + retries;
        if (isHeard) targets.notify(targetOf(name));
        step();
        for (let i = 0; i < lands; i++) land(i % 10 >= failsIn10);
        nowMs += passesMs;
        targets.tick(nowMs);
        step();
      }
      // Each notification, and each failure that is due again, may cause at most one empty claim.
      const heard = events.filter(({ isHeard }) => isHeard).length;
      expect(vain).toBeLessThanOrEqual(heard + 2 * events.length);
      for (let i = 0; i < 2_000 && sent < made; i++) {
        nowMs += 1_000;
        for (const name of names) targets.notify(targetOf(name));
        targets.tick(nowMs);
        step();
        while (flying.length > 0) land(true);
      }
      expect(sent).toBe(made);
      targets.tick(nowMs + 20_000);
      expect([...store.values()].flat()).toEqual([]);
    }),
    { numRuns: rounds(25, 100) },
  );
});
