import { expect, test } from 'vitest';
import { createTargets } from '../../src/workers/targets.ts';
import { claimAll, due, makeFast, type Store, type Targets, targetOf, wants } from './targetPlay.ts';

test('however many begin to hang at once, what is in the air is bounded', () => {
  const targets = createTargets();
  const names = Array.from({ length: 400 }, (_, i) => `t${i}`);
  for (const name of names) makeFast(targets, name, 60);
  const store: Store = new Map(names.map(name => [name, due(name, 200)]));
  for (const name of names) targets.notify(targetOf(name));
  // The network is down: no attempt from here on is answered before its timeout.
  let flying = 0;
  for (let nowMs = 0; nowMs < 15_000; nowMs += 100) {
    targets.tick(nowMs);
    flying += claimAll(targets, store, nowMs).length;
    targets.takeReturned();
  }
  expect(flying).toBeGreaterThan(4_000);
  expect(flying).toBeLessThanOrEqual(6_000);
});

test('after a start, those known to fail keep nobody else waiting, and are back once they are well', () => {
  const targets = createTargets();
  const names = Array.from({ length: 1_000 }, (_, i) => `t${i}`);
  for (const name of names) targets.notify(targetOf(name), true);
  targets.notify(targetOf('live'));
  const store: Store = new Map([...names.map(name => [name, due(name, 200)] as const), ['live', due('live', 1)]]);
  const attempts = claimAll(targets, store, 0);
  expect(attempts.filter(({ delivery }) => delivery.target === 'live')).toHaveLength(1);
  const probes = attempts.filter(({ delivery }) => delivery.target === 't0');
  expect(probes).toHaveLength(1);
  targets.attemptEnded(probes[0]!, true, 10);
  expect(claimAll(targets, store, 10).filter(({ delivery }) => delivery.target === 't0').length).toBeGreaterThan(1);
});

/** Two hundred targets, each with first attempts and retries due. */
const manyDue = (targets: Targets, wasFailing: boolean): { names: string[]; store: Store } => {
  const names = Array.from({ length: 200 }, (_, i) => `t${i}`);
  for (const name of names) targets.notify(targetOf(name), wasFailing);
  return { names, store: new Map(names.map(name => [name, [...due(name, 20), ...due(name, 20, 1)]])) };
};

test('those that have failed for long are probed one by one, and whoever is asked for goes before them', () => {
  const targets = createTargets();
  const { names, store } = manyDue(targets, true);
  const probed = new Set<string>();
  for (let nowMs = 0; nowMs < 10_000; nowMs += 50) {
    targets.tick(nowMs);
    const attempts = claimAll(targets, store, nowMs);
    expect(new Set(attempts.map(({ delivery }) => delivery.target)).size).toBeLessThanOrEqual(1);
    expect(attempts.length).not.toBe(1);
    for (const { delivery } of attempts) probed.add(delivery.target);
  }
  // No target is skipped: each took two, and the running attempts fill the lane before all had their turn.
  expect([...probed]).toEqual(names.slice(0, 128));
  const last = targetOf('t199');
  targets.resume(last, 10_000);
  targets.notify(last);
  expect(claimAll(targets, store, 10_000).map(({ delivery }) => delivery.target)).toEqual(['t199', 't199']);
});

test('one that was asked for while a probe was in the air waits for its pause, and not for its turn as well', () => {
  const targets = createTargets();
  targets.notify(targetOf('asked'), true);
  const [probe] = claimAll(targets, new Map([['asked', due('asked', 20)]]), 0);
  targets.resume(targetOf('asked'), 10);
  targets.attemptEnded(probe!, false, 20);
  const { store } = manyDue(targets, true);
  for (let nowMs = 7_500; nowMs <= 8_000; nowMs += 50) {
    targets.tick(nowMs);
    expect(claimAll(targets, store, nowMs)).toHaveLength(2);
  }
  targets.tick(8_050);
  expect(wants(targets, 8_050)).toContainEqual({ ...targetOf('asked'), first: 1, retries: 0 });
});

test('those that began to fail a moment ago wait for nobody, unless they hang', () => {
  for (const [lastedMs, atOnce] of [
    [10, 128],
    [1_000, 1],
  ] as const) {
    const targets = createTargets();
    const { store } = manyDue(targets, false);
    // The lane of new targets has room for fifty at a time.
    for (let round = 0; round < 5; round++) {
      const attempts = claimAll(targets, store, round * lastedMs);
      for (const attempt of attempts) targets.attemptEnded(attempt, false, (round + 1) * lastedMs);
    }
    targets.tick(20_000);
    expect(new Set(claimAll(targets, store, 20_000).map(({ delivery }) => delivery.target)).size).toBe(atOnce);
  }
});
