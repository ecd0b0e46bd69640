import type { Delivery, Endpoint, TestResult } from '../../core/dashboard/setupApi.ts';
import type { Scope } from '../../core/environment.ts';
import { isId } from '../../core/ids.ts';
import type { EventType } from '../../core/payment/states.ts';
import type { DeliveryRow } from '../../storage/deliveryLog.ts';
import { deleteEndpoint, type EndpointChange, type EndpointRow, readEndpoint } from '../../storage/endpoints.ts';
import type { Context, DeliveryOutcome } from '../context.ts';
import { rescheduleNow, scheduleReplay, type TimeRange } from '../deliveries.ts';
import {
  addEndpoint,
  checkUrl,
  editEndpoint,
  findEndpoint,
  noSuchEndpoint,
  openSecret,
  renewSecret,
  sendTest,
} from '../webhookEndpoints.ts';
import { type Acting, recordAction } from './acting.ts';

export const endpointObject = (row: EndpointRow): Endpoint => ({
  id: row.id,
  url: row.url,
  events: row.events,
  description: row.description,
  status: row.status,
  disabledReason: row.disabledReason,
  createdAt: row.createdAt.toISOString(),
});

export const deliveryObject = (row: DeliveryRow): Delivery => ({
  id: row.id,
  eventId: row.eventId,
  eventType: row.type,
  paymentId: row.paymentId,
  endpointId: row.endpointId,
  url: row.url,
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
  finishedAt: row.finishedAt?.toISOString() ?? null,
  parkedReason: row.parkedReason,
});

const resultOf = ({ delivered, statusCode, durationMs, error }: DeliveryOutcome): TestResult => ({
  delivered,
  statusCode,
  durationMs,
  error,
});

/** The endpoint stays even if the ping fails: its receiver may be built later. */
export const createEndpointAs = async (
  context: Context,
  acting: Acting,
  request: { url: string; events: string[]; description?: string | null },
): Promise<{ endpoint: Endpoint; secret: string; ping: TestResult }> => {
  const { scope } = acting;
  checkUrl(context, scope, request.url);
  const { row, secret } = await context.db.transaction(async tx => {
    const added = await addEndpoint(context, tx, scope, request);
    const { id, url, events } = added.row;
    await recordAction(context, tx, acting, { action: 'webhook.created', subject: id, detail: { url, events } });
    return added;
  });
  return { endpoint: endpointObject(row), secret, ping: await ping(context, scope, row, 'webhook.test') };
};

const ping = async (context: Context, scope: Scope, row: EndpointRow, type: EventType): Promise<TestResult> =>
  resultOf(await sendTest(context, scope, row, type));

/** The audit row is written before the event is sent. */
export const testEndpointAs = async (
  context: Context,
  acting: Acting,
  id: string,
  type: EventType,
): Promise<TestResult> => {
  const row = await findEndpoint(context, acting.scope, id);
  const tested = { action: 'webhook.tested' as const, subject: id, detail: { type, url: row.url } };
  await context.db.transaction(tx => recordAction(context, tx, acting, tested));
  return ping(context, acting.scope, row, type);
};

const changedOf = (before: EndpointRow, after: EndpointRow): Record<string, { before: unknown; after: unknown }> => {
  const names = ['url', 'events', 'description', 'status'] as const;
  const changed = names.filter(name => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map(name => [name, { before: before[name], after: after[name] }]));
};

export const changeEndpointAs = (
  context: Context,
  acting: Acting,
  id: string,
  change: EndpointChange,
): Promise<Endpoint> =>
  context.db.transaction(async tx => {
    const before = isId('endpoint', id) ? await readEndpoint(tx, acting.scope, id) : null;
    if (!before) throw noSuchEndpoint();
    const row = await editEndpoint(context, tx, acting.scope, id, change);
    const detail = changedOf(before, row);
    if (Object.keys(detail).length > 0) {
      await recordAction(context, tx, acting, { action: 'webhook.changed', subject: id, detail });
    }
    return endpointObject(row);
  });

export const deleteEndpointAs = (context: Context, acting: Acting, id: string): Promise<{ done: true }> =>
  context.db.transaction(async tx => {
    const row = isId('endpoint', id) ? await readEndpoint(tx, acting.scope, id) : null;
    if (!row || !(await deleteEndpoint(tx, acting.scope, id))) throw noSuchEndpoint();
    await recordAction(context, tx, acting, { action: 'webhook.deleted', subject: id, detail: { url: row.url } });
    return { done: true } as const;
  });

/** The audit row is written before the secret is shown. */
export const revealSecretAs = (context: Context, acting: Acting, id: string): Promise<{ secret: string }> =>
  context.db.transaction(async tx => {
    const row = isId('endpoint', id) ? await readEndpoint(tx, acting.scope, id) : null;
    if (!row) throw noSuchEndpoint();
    await recordAction(context, tx, acting, { action: 'secret.revealed', subject: id, detail: { url: row.url } });
    return { secret: openSecret(context, acting.scope, row) };
  });

export const rotateSecretAs = (context: Context, acting: Acting, id: string): Promise<{ secret: string }> =>
  context.db.transaction(async tx => {
    const { row, secret } = await renewSecret(context, tx, acting.scope, id);
    await recordAction(context, tx, acting, { action: 'secret.rotated', subject: id, detail: { url: row.url } });
    return { secret };
  });

export const resendDeliveryAs = (context: Context, acting: Acting, id: string): Promise<Delivery> =>
  context.db.transaction(async tx => {
    const row = await rescheduleNow(tx, acting.scope, id);
    const { eventId, paymentId, url } = row;
    await recordAction(context, tx, acting, {
      action: 'delivery.resent',
      subject: id,
      detail: { eventId, paymentId, url },
    });
    return deliveryObject(row);
  });

export const replayEventsAs = async (
  context: Context,
  acting: Acting,
  id: string,
  range: TimeRange,
): Promise<{ scheduled: number }> => {
  if (!isId('endpoint', id)) throw noSuchEndpoint();
  const { fromMs, toMs } = range;
  const detail = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
  const begin = () =>
    context.db.transaction(tx =>
      recordAction(context, tx, acting, { action: 'webhook.replayed', subject: id, detail }),
    );
  return { scheduled: await scheduleReplay(context, acting.scope, id, range, begin) };
};
