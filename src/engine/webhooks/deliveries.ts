import type { Delivery, DeliveryAttempt } from '../../core/api/delivery.ts';
import type { Scope } from '../../core/environment.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import { firstIdAt, isId, lastIdAt } from '../../core/ids.ts';
import { starEventTypes } from '../../core/payment/states.ts';
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
} from '../../storage/webhooks/deliveryLog.ts';
import { type EndpointRow, readEndpoint } from '../../storage/webhooks/endpoints.ts';
import type { Acting } from '../audit/acting.ts';
import type { Context } from '../context.ts';
import { perform, type Work } from '../perform.ts';
import { forgeryOf } from './eventSeal.ts';
import { noSuchEndpoint } from './webhookEndpoints.ts';

const noSuchDelivery = (): FlorinError => new FlorinError('not_found', 'No delivery has this id.');

/** More than one retry schedule has, so several resends are visible. */
const shownAttempts = 50;
/** Events per replay, which takes a few seconds, and per transaction. */
const [maxReplay, replayBatch] = [100_000, 1_000];

export const deliveryObject = (row: DeliveryRow): Delivery => ({
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

const attemptObject = (row: AttemptRow, eventId: string): DeliveryAttempt => ({
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
): Promise<{ row: DeliveryRow; log: DeliveryAttempt[] }> => {
  const row = isId('delivery', id) ? await readDelivery(context.db, scope, id) : null;
  if (!row || forgeryOf(context, row) !== null) throw noSuchDelivery();
  const attempts = await listAttempts(context.db, scope, id, shownAttempts);
  return { row, log: attempts.map(each => attemptObject(each, row.eventId)) };
};

const refusals = {
  deleted: 'The endpoint was deleted.',
  disabled: 'The endpoint is disabled. Enable it first.',
  stopped:
    'The receiver answered 410 to a callback of this payment. Florin sends it no more callbacks for this payment.',
} as const;

/** Makes a delivery due now, whatever its status, with a new retry schedule. */
export const resendDelivery =
  (context: Context, id: string): Work<DeliveryRow> =>
  async (tx, { scope }) => {
    const refusal = isId('delivery', id) ? await whyNotResend(tx, scope, id) : undefined;
    if (refusal === undefined) throw noSuchDelivery();
    if (refusal !== null) throw new FlorinError('conflict', refusals[refusal]);
    await rescheduleDelivery(tx, scope, id);
    const row = (await readDelivery(tx, scope, id))!;
    if (forgeryOf(context, row) !== null) throw noSuchDelivery();
    const { eventId, paymentId } = row;
    // A row of the audit log is never erased, and the query of a callback may name a person.
    const [url] = row.url.split(/[?#]/, 1);
    return { value: row, deed: { action: 'delivery.resent', subject: id, detail: { eventId, paymentId, url } } };
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
  const endpoint = isId('endpoint', endpointId) ? await readEndpoint(context.db, scope, endpointId) : null;
  if (!endpoint) throw noSuchEndpoint();
  if (endpoint.status === 'disabled') throw new FlorinError('conflict', refusals.disabled);
  return endpoint;
};

export type TimeRange = { fromMs: number; toMs: number };

/**
 * Sends every event of a time range to an endpoint again, including events it already received and events from before
 * it existed. The audit row is written after all checks and before anything is scheduled. If a replay is interrupted, a
 * part is scheduled and the caller must repeat it. Returns how many deliveries were scheduled.
 */
export const replayEvents = async (
  context: Context,
  acting: Acting,
  endpointId: string,
  { fromMs, toMs }: TimeRange,
): Promise<number> => {
  const { scope } = acting;
  const { events } = await readReplayEndpoint(context, scope, endpointId);
  const named = events.filter(type => type !== '*');
  const types = [...new Set(events.includes('*') ? [...starEventTypes, ...named] : named)];
  const range = { endpointId, types, firstId: firstIdAt('event', fromMs), lastId: lastIdAt('event', toMs) };
  await refuseTooMany(context, scope, range);
  const detail = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
  const deed = { action: 'webhook.replayed', subject: endpointId, detail } as const;
  await perform(context, acting, null, async () => ({ value: null, deed }));
  return scheduleAll(context, scope, range);
};
