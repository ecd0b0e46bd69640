import type { Context } from '../engine/context.ts';
import { purgeSignIns } from '../storage/access/signInFailures.ts';
import { pruneBlocks } from '../storage/chain/blocks.ts';
import { purgeIdempotencyKeys } from '../storage/idempotency.ts';
import { purgeOutgoing } from '../storage/outbox.ts';
import { purgeResponses } from '../storage/webhooks/deliveryAttempts.ts';
import { purgeDeliveries } from '../storage/webhooks/deliveryLog.ts';
import { type Loop, startLoop } from './loop.ts';

/** How long data is kept that is not needed for ever. */
export type Retention = {
  /** Successful deliveries with their attempts. */
  readonly deliveryLogDays: number;
  /** What receivers answered. */
  readonly deliveryBodyDays: number;
  /** Answers to requests with an Idempotency-Key. */
  readonly idempotencyHours: number;
};

const purgeBatch = 5_000;
const keptBlocks = 256;

/**
 * Deletes idempotency keys, succeeded deliveries and what receivers answered after the configured times, blocks deeper than
 * a reorg may reach, parked mails and alerts after 30 days, mails where none are sent, and expired sessions, challenges,
 * access links and failed sign-ins. Returns whether there may be more now.
 */
export const purge = async ({ db }: Pick<Context, 'db'>, retention: Retention): Promise<boolean> => {
  const counts = [
    await purgeIdempotencyKeys(db, purgeBatch, retention.idempotencyHours),
    await pruneBlocks(db, keptBlocks, purgeBatch),
    await purgeDeliveries(db, retention.deliveryLogDays, purgeBatch),
    await purgeResponses(db, retention.deliveryBodyDays, purgeBatch),
    await purgeSignIns(db, purgeBatch),
    await purgeOutgoing(db, purgeBatch),
  ];
  return counts.some(count => count >= purgeBatch);
};

export const startPurger = (context: Context, retention: Retention): Loop =>
  startLoop({
    name: 'purger',
    intervalMs: 60_000,
    log: context.log,
    work: () => purge(context, retention),
  });
