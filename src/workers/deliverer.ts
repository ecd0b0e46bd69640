import { setTimeout as pause } from 'node:timers/promises';
import { judgeAttempt } from '../core/delivery.ts';
import type { Context } from '../engine/context.ts';
import { createAttemptRecorder } from '../engine/recordAttempts.ts';
import { createSecretOpener } from '../engine/webhookSecrets.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  claimingSince,
  parkDeliveries,
  releaseDeliveries,
  type Target,
} from '../storage/deliveries.ts';
import type { Outcome, Sender } from '../webhooks/send.ts';
import { type SignedHeaders, signWebhook } from '../webhooks/sign.ts';
import { startLooking } from './looking.ts';
import type { Loop } from './loop.ts';
import type { Flight } from './targetState.ts';
import { createTargets } from './targets.ts';
import { createWake } from './wake.ts';

export type Deliverer = Loop & {
  /** Something may be due for this target. Where somebody has asked for it, a pause of the target is not waited for. */
  hear(target: Target, isAskedFor: boolean): void;
  /** News may have been missed: all targets are looked through. */
  lookAround(): void;
};

const claimSize = 200;
/** Longer than an attempt and the writing of what came of it can take. */
const claimSeconds = 60;
const tickMs = 50;
/** With so many answers not written down, nothing more is sent: its claims would run out. */
const maxUnwritten = 1_000;
const restMs = 1_000;
/** How long attempts in the air, and then the writing of what came of them, may go on when the service stops. */
const lastMs = 5_000;

const unsigned: Outcome = {
  delivered: false,
  statusCode: null,
  durationMs: 0,
  error: 'the secret could not be opened',
  responseBody: Buffer.alloc(0),
  retryAfterMs: null,
};

/** Takes what is due, signs and sends it, and writes down what came of it. Any number of processes share the work. */
export const startDeliverer = (
  context: Context,
  options: { sender: Sender; holder: string; random?: () => number },
): Deliverer => {
  const { sender, holder, random = Math.random } = options;
  const { db, log } = context;
  const targets = createTargets<ClaimedDelivery>();
  const openSecrets = createSecretOpener(context.vault);
  const recorder = createAttemptRecorder(context);
  const stopping = new AbortController();
  const canceling = new AbortController();
  /** Claimed, and nothing come of it yet. */
  const held = new Set<ClaimedDelivery>();
  const wake = createWake();
  let since: Date | null = null;
  let inAir = 0;
  let allLanded = (): void => {};

  /** Null where no secret can be had, which is nobody's fault but ours: it is tried again, and the receiver has not failed. */
  const sign = (delivery: ClaimedDelivery, body: Buffer, atMs: number): SignedHeaders | null => {
    const timestampSeconds = Math.floor(atMs / 1000);
    try {
      return signWebhook({ secrets: openSecrets(delivery), id: delivery.eventId, timestampSeconds, body });
    } catch (error) {
      log.error({ deliveryId: delivery.id, err: error }, 'a delivery could not be signed');
      return null;
    }
  };

  /** Whether the receiver does what it should; null where nothing is known of it by this. */
  const attempt = async (delivery: ClaimedDelivery): Promise<boolean | null> => {
    const { environment, url, failures } = delivery;
    const { allowLoopback } = context.environments[environment];
    const atMs = context.clock.nowMs();
    // The bytes that are signed are the ones that are sent.
    const body = Buffer.from(delivery.body);
    const headers = sign(delivery, body, atMs);
    const outcome = headers ? await sender.send({ url, headers, body, allowLoopback }, canceling.signal) : unsigned;
    // What was cut off at the end of this process says nothing of the receiver.
    if (canceling.signal.aborted && !outcome.delivered) return null;
    const verdict = judgeAttempt(outcome, { environment, failures, random: random() });
    held.delete(delivery);
    const written = recorder.add({ delivery, atMs, signature: headers?.['webhook-signature'] ?? '', outcome, verdict });
    if (!headers) return null;
    const isGone = verdict.kind === 'parked' && verdict.gone;
    if (isGone && delivery.endpointId !== null) {
      targets.close(delivery);
      void written.then(() => {
        targets.closed(delivery);
        wake.up();
      });
    }
    // To a callback it is an answer about one payment, by a server that may be well for all others.
    return outcome.delivered || (isGone && delivery.endpointId === null);
  };

  const fly = async (flight: Flight<ClaimedDelivery>): Promise<void> => {
    let isWell: boolean | null = false;
    try {
      isWell = await attempt(flight.delivery);
    } catch (error) {
      log.error({ deliveryId: flight.delivery.id, err: error }, 'a delivery could not be attempted');
    }
    try {
      launch(targets.landed(flight, isWell, performance.now()));
    } finally {
      inAir -= 1;
      if (inAir === 0) allLanded();
    }
    wake.up();
  };

  const launch = (flights: readonly Flight<ClaimedDelivery>[]): void => {
    if (stopping.signal.aborted) return;
    for (const flight of flights) {
      inAir += 1;
      void fly(flight);
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

  const park = async (refused: readonly ClaimedDelivery[]): Promise<void> => {
    if (refused.length === 0) return;
    try {
      await parkDeliveries(
        db,
        refused.map(each => ({ ...each, reason: each.refusal! })),
      );
      for (const delivery of refused) held.delete(delivery);
    } catch (error) {
      returned.push(...refused);
      throw error;
    }
  };

  /** Whether anything was asked for. */
  const claim = async (): Promise<boolean> => {
    if (recorder.pending() > maxUnwritten) return false;
    since ??= await claimingSince(db);
    const asking = targets.wanted(performance.now(), claimSize);
    if (asking.wants.length === 0) return false;
    let claimed: ClaimedDelivery[];
    try {
      claimed = await claimDeliveries(db, asking.wants, { holder, seconds: claimSeconds, since });
    } catch (error) {
      targets.unasked(asking);
      throw error;
    }
    for (const delivery of claimed) held.add(delivery);
    launch(targets.asked(asking, claimed, performance.now()));
    await park(claimed.filter(({ refusal }) => refusal !== null));
    return true;
  };

  const run = async (): Promise<void> => {
    let ticksAtMs = 0;
    while (!stopping.signal.aborted) {
      try {
        const nowMs = performance.now();
        if (nowMs >= ticksAtMs) {
          targets.tick(nowMs);
          ticksAtMs = nowMs + tickMs;
        }
        await giveBack();
        if (!(await claim())) await wake.next(Math.max(0, ticksAtMs - performance.now()));
      } catch (error) {
        log.warn({ loop: 'deliverer', err: error }, 'a background loop failed and will try again');
        await pause(restMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };
  const running = run();
  const hear = (target: Target, wasFailing = false): void => {
    targets.hear(target, wasFailing);
    wake.up();
  };
  const looking = startLooking(context, hear);

  return {
    hear(target, isAskedFor) {
      if (isAskedFor) targets.resume(target, performance.now());
      hear(target);
    },
    lookAround: looking.soon,
    async stop() {
      stopping.abort();
      wake.up();
      await Promise.all([running, looking.stop()]);
      const patience = setTimeout(() => canceling.abort(), lastMs);
      await new Promise<void>(resolve => {
        allLanded = resolve;
        if (inAir === 0) resolve();
      });
      clearTimeout(patience);
      await recorder.settled(lastMs);
      await releaseDeliveries(db, [...held]).catch(() => undefined);
    },
  };
};
