import type { Wanted } from '../../src/storage/webhooks/deliveries.ts';
import type { ActiveAttempt, Sendable } from '../../src/workers/targetState.ts';
import type { createTargets } from '../../src/workers/targets.ts';

export type Targets = ReturnType<typeof createTargets<Sendable>>;

export const targetOf = (name: string) => ({ accountId: 'acct_1', environment: 'sandbox' as const, target: name });
export const due = (name: string, count: number, failures = 0): Sendable[] =>
  Array.from({ length: count }, () => ({ ...targetOf(name), failures, refusal: null }));

/** By target. */
export type Store = Map<string, Sendable[]>;

/** What a database with these deliveries would return for a claim. */
export const takeFrom = (store: Store, wants: readonly Wanted[]): Sendable[] =>
  wants.flatMap(({ target, first, retries }) => {
    const all = store.get(target) ?? [];
    const take = (isFirst: boolean, count: number) =>
      all.filter(({ failures }) => (failures === 0) === isFirst).slice(0, count);
    const taken = new Set([...take(true, first), ...take(false, retries)]);
    store.set(
      target,
      all.filter(each => !taken.has(each)),
    );
    return [...taken];
  });

/** Claims once and returns the started attempts. */
export const claim = (targets: Targets, store: Store, nowMs: number): ActiveAttempt<Sendable>[] => {
  const request = targets.nextClaim(nowMs, 200);
  return targets.claimSucceeded(request, takeFrom(store, request.wants), nowMs);
};

/** Claims until nothing more is wanted. */
export const claimAll = (targets: Targets, store: Store, nowMs: number): ActiveAttempt<Sendable>[] => {
  const attempts: ActiveAttempt<Sendable>[] = [];
  for (;;) {
    const request = targets.nextClaim(nowMs, 200);
    if (request.wants.length === 0) return attempts;
    attempts.push(...targets.claimSucceeded(request, takeFrom(store, request.wants), nowMs));
  }
};

/** A target that has answered fast this often: it is in the fast lane, and each answer raised its limit by one. */
export const makeFast = (targets: Targets, name: string, answers = 1): void => {
  for (let i = 0; i < answers; i++) {
    targets.notify(targetOf(name));
    for (const attempt of claim(targets, new Map([[name, due(name, 1)]]), 0)) targets.attemptEnded(attempt, true, 1);
    claim(targets, new Map(), 0);
  }
};

export const wants = (targets: Targets, nowMs = 0) => targets.nextClaim(nowMs, 200).wants;
