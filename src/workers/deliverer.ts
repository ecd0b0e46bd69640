import { setTimeout as pause } from 'node:timers/promises';
import { backOffMs } from '../core/backOff.ts';
import { judgeAttempt } from '../core/delivery.ts';
import type { Context } from '../engine/context.ts';
import { forgeryOf } from '../engine/webhooks/eventSeal.ts';
import { createTargetJudge } from '../engine/webhooks/genuineTargets.ts';
import { createAttemptRecorder } from '../engine/webhooks/recordAttempts.ts';
import { createSecretOpener } from '../engine/webhooks/webhookSecrets.ts';
import { readNow } from '../storage/databaseClock.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  parkDeliveries,
  postponeDeliveries,
  releaseDeliveries,
  type Target,
} from '../storage/webhooks/deliveries.ts';
import type { Sender } from '../webhooks/send.ts';
import { type Sent, sendSigned } from '../webhooks/sendSigned.ts';
import type { Loop } from './loop.ts';
import { startTargetPoll } from './targetPoll.ts';
import type { ActiveAttempt } from './targetState.ts';
import { createTargets } from './targets.ts';
import { createWake } from './wake.ts';

export type Deliverer = Loop & {
  /** A delivery for this target may be due. If a person requested it, the target's pause ends. */
  notify(target: Target, isRequested: boolean): void;
  /** Notifications may have been missed: polls all targets soon. */
  pollSoon(): void;
};

const claimSize = 200;
/** Longer than an attempt and recording its result can take. */
const claimSeconds = 60;
const tickMs = 50;
/** With this many unrecorded results no more deliveries are claimed: their claims would expire. */
const maxUnwritten = 1_000;
const [shortestPauseMs, longestPauseMs] = [500, 2_000];
/** When an endpoint for which the audit log does not vouch is looked at again. */
const unvouchedSeconds = 60;
/** How long running attempts, and then recording their results, may take at shutdown. */
const shutdownMs = 5_000;

/** Nothing was sent. That is our fault: the delivery is retried, and the receiver has not failed. */
const unsigned = (error: string): Sent => ({
  signature: '',
  outcome: {
    delivered: false,
    statusCode: null,
    durationMs: 0,
    error,
    responseBody: Buffer.alloc(0),
    retryAfterMs: null,
  },
});

/** Claims due deliveries, signs and sends them, and records the results. Any number of processes share the work. */
export const startDeliverer = (
  context: Context,
  options: { sender: Sender; holder: string; random?: () => number },
): Deliverer => {
  const { sender, holder, random = Math.random } = options;
  const { db, log } = context;
  const targets = createTargets<ClaimedDelivery>();
  const openSecrets = createSecretOpener(context.vault);
  const judgeTarget = createTargetJudge(context);
  const recorder = createAttemptRecorder(context);
  const stopping = new AbortController();
  const canceling = new AbortController();
  /** Claimed deliveries without a result. */
  const held = new Set<ClaimedDelivery>();
  const wake = createWake();
  /** Separates this run's claims from those of the holder's earlier runs. */
  let since: Date | null = null;
  let activeCount = 0;
  let onAllEnded = (): void => {};

  const send = async (delivery: ClaimedDelivery, atMs: number): Promise<Sent> => {
    const { eventId, body, url, environment, trace } = delivery;
    const { allowLoopback } = context.environments[environment];
    try {
      const webhook = { eventId, body, secrets: openSecrets(delivery), atMs, url, allowLoopback, trace };
      return await sendSigned(sender, webhook, canceling.signal);
    } catch (error) {
      log.error({ deliveryId: delivery.id, err: error }, 'a delivery could not be signed');
      return unsigned('the signing secret could not be decrypted');
    }
  };

  /** Whether the receiver is healthy; null if the attempt says nothing about it. */
  const sendOnce = async (delivery: ClaimedDelivery): Promise<boolean | null> => {
    const { environment, failures } = delivery;
    const atMs = context.clock.nowMs();
    const { signature, outcome } = await send(delivery, atMs);
    // An attempt canceled at shutdown says nothing about the receiver.
    if (canceling.signal.aborted && !outcome.delivered) return null;
    const verdict = judgeAttempt(outcome, { environment, failures, random: random() });
    context.meter.deliveryAttempt(verdict.kind);
    held.delete(delivery);
    const written = recorder.add({ delivery, atMs, signature, outcome, verdict });
    if (signature === '') return null;
    const isGone = verdict.kind === 'parked' && verdict.gone;
    if (isGone && delivery.endpointId !== null) {
      targets.close(delivery);
      void written.then(() => {
        targets.closeRecorded(delivery);
        wake.up();
      });
    }
    // A callback's 410 is about one payment; its server may be healthy for all others.
    return outcome.delivered || (isGone && delivery.endpointId === null);
  };

  const runAttempt = async (attempt: ActiveAttempt<ClaimedDelivery>): Promise<void> => {
    let isHealthy: boolean | null = false;
    try {
      isHealthy = await sendOnce(attempt.delivery);
    } catch (error) {
      log.error({ deliveryId: attempt.delivery.id, err: error }, 'a delivery could not be attempted');
    }
    try {
      start(targets.attemptEnded(attempt, isHealthy, performance.now()));
    } finally {
      activeCount -= 1;
      if (activeCount === 0) onAllEnded();
    }
    wake.up();
  };

  const start = (attempts: readonly ActiveAttempt<ClaimedDelivery>[]): void => {
    if (stopping.signal.aborted) return;
    for (const attempt of attempts) {
      activeCount += 1;
      void runAttempt(attempt);
    }
  };

  let returned: ClaimedDelivery[] = [];
  const giveBack = async (): Promise<void> => {
    returned.push(...targets.takeReturned());
    if (returned.length === 0) return;
    await releaseDeliveries(db, returned);
    for (const delivery of returned) held.delete(delivery);
    returned = [];
  };

  /** Parks what must not be sent, and leaves for later what may be sent then. */
  const putAside = async (refused: readonly ClaimedDelivery[], later: ReadonlySet<ClaimedDelivery>): Promise<void> => {
    const forGood = refused.filter(each => !later.has(each)).map(each => ({ ...each, reason: each.refusal! }));
    try {
      if (forGood.length > 0) await parkDeliveries(db, forGood);
      if (later.size > 0) await postponeDeliveries(db, [...later], unvouchedSeconds);
      for (const delivery of refused) held.delete(delivery);
    } catch (error) {
      returned.push(...refused);
      throw error;
    }
  };

  /** Returns whether anything was requested. */
  const claim = async (): Promise<boolean> => {
    if (recorder.pending() > maxUnwritten) return false;
    since ??= await readNow(db);
    const request = targets.nextClaim(performance.now(), claimSize);
    if (request.wants.length === 0) return false;
    let claimed: ClaimedDelivery[];
    try {
      claimed = await claimDeliveries(db, request.wants, { holder, seconds: claimSeconds, since });
    } catch (error) {
      targets.claimFailed(request);
      throw error;
    }
    const later = new Set<ClaimedDelivery>();
    for (const delivery of claimed) {
      delivery.refusal ??= forgeryOf(context, delivery);
      const judged = delivery.refusal === null ? judgeTarget(delivery) : null;
      delivery.refusal ??= judged?.reason ?? null;
      if (judged?.mayPass) later.add(delivery);
      held.add(delivery);
    }
    start(targets.claimSucceeded(request, claimed, performance.now()));
    const refused = claimed.filter(({ refusal }) => refusal !== null);
    await putAside(refused, later);
    return true;
  };

  const run = async (): Promise<void> => {
    let nextTickMs = 0;
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        const nowMs = performance.now();
        if (nowMs >= nextTickMs) {
          targets.tick(nowMs);
          nextTickMs = nowMs + tickMs;
        }
        await giveBack();
        const hasAsked = await claim();
        failures = 0;
        if (!hasAsked) await wake.next(Math.max(0, nextTickMs - performance.now()));
      } catch (error) {
        log.warn({ loop: 'deliverer', err: error }, 'a background loop failed and will try again');
        failures += 1;
        const pauseMs = backOffMs(failures, shortestPauseMs, longestPauseMs, random());
        await pause(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };
  const running = run();
  const notifyTarget = (target: Target, wasFailing = false): void => {
    targets.notify(target, wasFailing);
    wake.up();
  };
  const targetPoll = startTargetPoll(context, notifyTarget);

  return {
    notify(target, isRequested) {
      if (isRequested) targets.resume(target, performance.now());
      notifyTarget(target);
    },
    pollSoon: targetPoll.pollSoon,
    async stop() {
      stopping.abort();
      wake.up();
      await Promise.all([running, targetPoll.stop()]);
      const cancelTimer = setTimeout(() => canceling.abort(), shutdownMs);
      await new Promise<void>(resolve => {
        onAllEnded = resolve;
        if (activeCount === 0) resolve();
      });
      clearTimeout(cancelTimer);
      await recorder.settled(shutdownMs);
      await releaseDeliveries(db, [...held]).catch(() => undefined);
    },
  };
};
