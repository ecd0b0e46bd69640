import type { Scope } from '../core/environment.ts';
import { FlorinError, invalid } from '../core/errors.ts';
import { firstIdAt, isId, lastIdAt } from '../core/ids.ts';
import { eventTypes } from '../core/payment/states.ts';
import type { Queryable } from '../storage/database.ts';
import {
  type AttemptRow,
  countReplay,
  type DeliveryRow,
  listAttempts,
  type ReplayRange,
  readDelivery,
  replayDeliveries,
  rescheduleDelivery,
  whyNotResend,
} from '../storage/deliveryLog.ts';
import { type EndpointRow, readEndpoint } from '../storage/endpoints.ts';
import type { Context } from './context.ts';
import { type Answer, type IdempotentRequest, idempotently, idempotentlyHeld } from './idempotency.ts';
import { noSuchEndpoint } from './webhookEndpoints.ts';

const noSuchDelivery = (): FlorinError => new FlorinError('not_found', 'No delivery has this id.');

/** More than one retry schedule has, so several resends are visible. */
const shownAttempts = 50;
/** Events per replay, which takes a few seconds, and per transaction. */
const [maxReplay, replayBatch] = [100_000, 1_000];

const deliveryObject = (row: DeliveryRow) => ({
  id: row.id,
  eventId: row.eventId,
  type: row.type,
  endpointId: row.endpointId,
  url: row.url,
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
  parkedReason: row.parkedReason,
  createdAt: row.createdAt.toISOString(),
  finishedAt: row.finishedAt?.toISOString() ?? null,
});

export const renderDelivery = (row: DeliveryRow): string => JSON.stringify(deliveryObject(row));

const attemptObject = (row: AttemptRow, eventId: string) => ({
  at: row.at.toISOString(),
  request: {
    url: row.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Florin',
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(row.at.getTime() / 1000)),
      'webhook-signature': row.signature,
    },
  },
  statusCode: row.statusCode,
  error: row.error,
  durationMs: row.durationMs,
  response: row.response.toString('utf8'),
});

/** A delivery with its attempts, latest first. */
export const findDelivery = async (
  context: Context,
  scope: Scope,
  id: string,
): Promise<{ row: DeliveryRow; log: ReturnType<typeof attemptObject>[] }> => {
  const row = isId('delivery', id) ? await readDelivery(context.db, scope, id) : null;
  if (!row) throw noSuchDelivery();
  const attempts = await listAttempts(context.db, scope, id, shownAttempts);
  return { row, log: attempts.map(each => attemptObject(each, row.eventId)) };
};

export const showDelivery = async (context: Context, scope: Scope, id: string): Promise<string> => {
  const { row, log } = await findDelivery(context, scope, id);
  return JSON.stringify({ ...deliveryObject(row), log });
};

const refusals = {
  deleted: 'The endpoint was deleted.',
  disabled: 'The endpoint is disabled. Enable it first.',
  stopped:
    'The receiver answered 410 to a callback of this payment. Florin sends it no more callbacks for this payment.',
} as const;

/** Makes a delivery due now, whatever its status, with a new retry schedule. */
export const rescheduleNow = async (tx: Queryable, scope: Scope, id: string): Promise<DeliveryRow> => {
  const refusal = isId('delivery', id) ? await whyNotResend(tx, scope, id) : undefined;
  if (refusal === undefined) throw noSuchDelivery();
  if (refusal !== null) throw new FlorinError('conflict', refusals[refusal]);
  await rescheduleDelivery(tx, scope, id);
  return (await readDelivery(tx, scope, id))!;
};

export const resendDelivery = (
  context: Context,
  scope: Scope,
  id: string,
  idempotency: IdempotentRequest | null,
): Promise<Answer> => {
  if (!isId('delivery', id)) throw noSuchDelivery();
  return idempotently(context, scope, idempotency, async tx => ({
    body: renderDelivery(await rescheduleNow(tx, scope, id)),
  }));
};

const refuseTooMany = async ({ db }: Context, scope: Scope, range: ReplayRange): Promise<void> => {
  if ((await countReplay(db, scope, range, maxReplay + 1)) <= maxReplay) return;
  const most = maxReplay.toLocaleString('en-US');
  throw invalid('to', `The range has more than ${most} events. Replay it in parts.`);
};

/** One transaction per batch: deliveries that are being sent must not wait for the whole replay. */
const scheduleAll = async ({ db }: Context, scope: Scope, range: ReplayRange): Promise<number> => {
  let scheduled = 0;
  let firstId = range.firstId;
  while (scheduled <= maxReplay) {
    const part = { ...range, firstId };
    const { total, lastId } = await db.transaction(tx => replayDeliveries(tx, scope, part, replayBatch));
    scheduled += total;
    if (total < replayBatch) break;
    // No id lies between an id and the same id with one more character.
    firstId = `${lastId}0`;
  }
  return scheduled;
};

const readReplayEndpoint = async (context: Context, scope: Scope, endpointId: string): Promise<EndpointRow> => {
  const endpoint = await readEndpoint(context.db, scope, endpointId);
  if (!endpoint) throw noSuchEndpoint();
  if (endpoint.status === 'disabled') throw new FlorinError('conflict', refusals.disabled);
  return endpoint;
};

export type TimeRange = { fromMs: number; toMs: number };

/** Returns how many deliveries were scheduled. `begin` is called after all checks and before anything is scheduled. */
export const scheduleReplay = async (
  context: Context,
  scope: Scope,
  endpointId: string,
  { fromMs, toMs }: TimeRange,
  begin: () => Promise<void> = async () => {},
): Promise<number> => {
  const { events } = await readReplayEndpoint(context, scope, endpointId);
  const types = events.includes('*') ? eventTypes : [...new Set(events)];
  const range = { endpointId, types, firstId: firstIdAt('event', fromMs), lastId: lastIdAt('event', toMs) };
  await refuseTooMany(context, scope, range);
  await begin();
  return scheduleAll(context, scope, range);
};

/**
 * Sends every event of a time range to an endpoint again, including events it already received and events from before
 * it existed. If a replay is interrupted, a part is scheduled and the caller must repeat it.
 */
export const replayEvents = (
  context: Context,
  scope: Scope,
  endpointId: string,
  range: TimeRange,
  idempotency: IdempotentRequest | null,
): Promise<Answer> => {
  if (!isId('endpoint', endpointId)) throw noSuchEndpoint();
  return idempotentlyHeld(context, scope, idempotency, async () => ({
    body: JSON.stringify({ scheduled: await scheduleReplay(context, scope, endpointId, range) }),
  }));
};
