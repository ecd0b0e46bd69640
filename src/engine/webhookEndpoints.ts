import type { Scope } from '../core/environment.ts';
import { FlorinError, invalid } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import type { EventType } from '../core/payment/states.ts';
import type { Queryable } from '../storage/database.ts';
import {
  announceEndpoint,
  countEndpointsLocked,
  deleteEndpoint,
  type EndpointChange,
  type EndpointRow,
  insertEndpoint,
  markEndpointTested,
  readEndpoint,
  rotateEndpointSecret,
  updateEndpoint,
} from '../storage/endpoints.ts';
import { generateWebhookSecret } from '../vault/secrets.ts';
import type { Context, DeliveryOutcome } from './context.ts';
import { type Answer, type IdempotentRequest, idempotently, idempotentlyHeld } from './idempotency.ts';
import { renderTestEvent } from './testEvent.ts';
import { endpointSecretContext } from './webhookSecrets.ts';

export const noSuchEndpoint = (): FlorinError => new FlorinError('not_found', 'No webhook endpoint has this id.');

/** Each event is written once per endpoint, so this limits what a payment costs. */
const maxEndpoints = 50;

/** The endpoint object. Contains the secret only when it is created or rotated. */
export const renderEndpoint = (row: EndpointRow, secret?: string): string =>
  JSON.stringify({
    id: row.id,
    url: row.url,
    events: row.events,
    description: row.description,
    status: row.status,
    disabledReason: row.disabledReason,
    secret,
    createdAt: row.createdAt.toISOString(),
  });

export const checkUrl = (context: Context, scope: Scope, url: string): void => {
  const refused = context.refuseUrl(url, scope.environment);
  if (refused) throw invalid('url', `url ${refused}.`);
};

export const findEndpoint = async (context: Context, scope: Scope, id: string): Promise<EndpointRow> => {
  const row = isId('endpoint', id) ? await readEndpoint(context.db, scope, id) : null;
  if (!row) throw noSuchEndpoint();
  return row;
};

export type EndpointRequest = { url: string; events?: string[]; description?: string | null };

/** Creates an endpoint and its secret. */
export const addEndpoint = async (
  context: Context,
  tx: Queryable,
  scope: Scope,
  request: EndpointRequest,
): Promise<{ row: EndpointRow; secret: string }> => {
  if ((await countEndpointsLocked(tx, scope)) >= maxEndpoints) {
    const message = `The ${scope.environment} environment already has the maximum of ${maxEndpoints} webhook endpoints. Delete one first.`;
    throw new FlorinError('conflict', message);
  }
  const { id, ms } = context.ids.next('endpoint', context.clock.nowMs());
  const secret = generateWebhookSecret();
  const row = await insertEndpoint(tx, scope, {
    id,
    url: request.url,
    events: request.events ?? ['*'],
    description: request.description ?? null,
    secret: context.vault.seal(secret, endpointSecretContext(scope, id)),
    createdAt: new Date(ms),
  });
  return { row, secret };
};

export const createEndpoint = (
  context: Context,
  scope: Scope,
  request: EndpointRequest,
  idempotency: IdempotentRequest | null,
): Promise<Answer> => {
  checkUrl(context, scope, request.url);
  return idempotently(context, scope, idempotency, async tx => {
    const { row, secret } = await addEndpoint(context, tx, scope, request);
    return { body: renderEndpoint(row, secret), secret: true };
  });
};

export const editEndpoint = async (
  context: Context,
  db: Queryable,
  scope: Scope,
  id: string,
  change: EndpointChange,
): Promise<EndpointRow> => {
  if (change.url !== undefined) checkUrl(context, scope, change.url);
  const row = isId('endpoint', id) ? await updateEndpoint(db, scope, id, change) : null;
  if (!row) throw noSuchEndpoint();
  if (change.status === 'enabled' || change.url !== undefined) await announceEndpoint(db, scope, id);
  return row;
};

export const changeEndpoint = async (
  context: Context,
  scope: Scope,
  id: string,
  change: EndpointChange,
): Promise<string> => renderEndpoint(await editEndpoint(context, context.db, scope, id, change));

export const removeEndpoint = async (context: Context, scope: Scope, id: string): Promise<string> => {
  if (!isId('endpoint', id) || !(await deleteEndpoint(context.db, scope, id))) throw noSuchEndpoint();
  return JSON.stringify({ id, deleted: true });
};

/** Replaces the secret. Each old secret also signs for a day after its rotation. */
export const renewSecret = async (
  context: Context,
  tx: Queryable,
  scope: Scope,
  id: string,
): Promise<{ row: EndpointRow; secret: string }> => {
  const secret = generateWebhookSecret();
  const sealed = context.vault.seal(secret, endpointSecretContext(scope, id));
  const row = isId('endpoint', id) ? await rotateEndpointSecret(tx, scope, id, sealed) : null;
  if (!row) throw noSuchEndpoint();
  return { row, secret };
};

export const rotateEndpoint = (
  context: Context,
  scope: Scope,
  id: string,
  idempotency: IdempotentRequest | null,
): Promise<Answer> => {
  if (!isId('endpoint', id)) throw noSuchEndpoint();
  return idempotently(context, scope, idempotency, async tx => {
    const { row, secret } = await renewSecret(context, tx, scope, id);
    return { body: renderEndpoint(row, secret), secret: true };
  });
};

const secretsOf = (context: Context, scope: Scope, row: EndpointRow, nowMs: number): string[] => {
  const open = (sealed: Buffer) => context.vault.open(sealed, endpointSecretContext(scope, row.id)).toString('utf8');
  const overlapping = row.previousSecrets.filter((_, i) => row.previousSecretsUntil[i]!.getTime() > nowMs);
  return [row.secret, ...overlapping].map(open);
};

/** The current secret in clear. */
export const openSecret = (context: Context, scope: Scope, row: EndpointRow): string =>
  context.vault.open(row.secret, endpointSecretContext(scope, row.id)).toString('utf8');

/**
 * Sends a signed test event now and returns the result. Also works for disabled endpoints, so that merchants can test
 * them.
 */
export const sendTest = async (
  context: Context,
  scope: Scope,
  row: EndpointRow,
  type: EventType,
): Promise<DeliveryOutcome & { eventId: string }> => {
  const { environment } = scope;
  const { id: eventId, ms: atMs } = context.ids.next('event', context.clock.nowMs());
  const event = { id: eventId, type, atMs, environment, endpointId: row.id };
  const outcome = await context.deliver({
    environment,
    url: row.url,
    secrets: secretsOf(context, scope, row, atMs),
    eventId,
    timestampSeconds: Math.floor(atMs / 1000),
    body: renderTestEvent(context.environments[environment], event),
  });
  if (outcome.delivered) await markEndpointTested(context.db, scope, row.id);
  return { eventId, ...outcome };
};

export const testEndpoint = async (
  context: Context,
  scope: Scope,
  id: string,
  type: EventType,
  idempotency: IdempotentRequest | null,
): Promise<Answer> => {
  const row = await findEndpoint(context, scope, id);
  return idempotentlyHeld(context, scope, idempotency, async () => ({
    body: JSON.stringify(await sendTest(context, scope, row, type)),
  }));
};
