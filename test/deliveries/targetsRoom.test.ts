import { expect, test } from 'vitest';
import { createTargets } from '../../src/workers/targets.ts';
import { claimAll, due, makeFast, type Store, targetOf } from './targetPlay.ts';

test('however many begin to hang at once, what is in the air is bounded', () => {
  const targets = createTargets();
  const names = Array.from({ length: 400 }, (_, i) => `t${i}`);
  for (const name of names) makeFast(targets, name, 60);
  const store: Store = new Map(names.map(name => [name, due(name, 200)]));
  for (const name of names) targets.hear(targetOf(name));
  // The network is gone: nothing that takes off from here on is answered before its time is up.
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
  for (const name of names) targets.hear(targetOf(name), true);
  targets.hear(targetOf('live'));
  const store: Store = new Map([...names.map(name => [name, due(name, 200)] as const), ['live', due('live', 1)]]);
  const flights = claimAll(targets, store, 0);
  expect(flights.filter(({ delivery }) => delivery.target === 'live')).toHaveLength(1);
  const probes = flights.filter(({ delivery }) => delivery.target === 't0');
  expect(probes).toHaveLength(1);
  targets.landed(probes[0]!, true, 10);
  expect(claimAll(targets, store, 10).filter(({ delivery }) => delivery.target === 't0').length).toBeGreaterThan(1);
});

test('those that fail are probed a few at a time, however many may be, and one that is asked for goes before them', () => {
  const targets = createTargets();
  const names = Array.from({ length: 200 }, (_, i) => `t${i}`);
  for (const name of names) targets.hear(targetOf(name), true);
  const store: Store = new Map(names.map(name => [name, [...due(name, 20), ...due(name, 20, 1)]]));
  const probed = new Set<string>();
  for (let nowMs = 0; nowMs < 10_000; nowMs += 50) {
    targets.tick(nowMs);
    const flights = claimAll(targets, store, nowMs);
    expect(flights.length).toBeLessThanOrEqual(2);
    for (const { delivery } of flights) probed.add(delivery.target);
  }
  // Nobody is passed over: each took two, and those in the air fill the lane before all had their turn.
  expect([...probed]).toEqual(names.slice(0, 128));
  const last = targetOf('t199');
  targets.resume(last);
  targets.hear(last);
  expect(claimAll(targets, store, 10_000).map(({ delivery }) => delivery.target)).toEqual(['t199', 't199']);
});
