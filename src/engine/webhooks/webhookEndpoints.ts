import type { Endpoint, EndpointRequest, TestResult } from '../../core/api/webhookEndpoint.ts';
import type { Scope } from '../../core/environment.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import type { EventType } from '../../core/payment/states.ts';
import { keptTrace, type TraceContext } from '../../core/traceContext.ts';
import type { Queryable } from '../../storage/database.ts';
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
} from '../../storage/webhooks/endpoints.ts';
import { generateWebhookSecret } from '../../vault/secrets.ts';
import type { Farewell } from '../audit/announce.ts';
import type { Context } from '../context.ts';
import { type Answer, type IdempotentRequest, idempotentlyHeld } from '../idempotency.ts';
import type { Work } from '../perform.ts';
import { renderTestEvent } from './testEvent.ts';
import { endpointSecretContext } from './webhookSecrets.ts';

export const noSuchEndpoint = (): FlorinError => new FlorinError('not_found', 'No webhook endpoint has this id.');

/** Each event is written once per endpoint, so this limits what a payment costs. */
const maxEndpoints = 50;

export const endpointObject = (row: EndpointRow): Endpoint => ({
  id: row.id,
  url: row.url,
  events: row.events,
  description: row.description,
  status: row.status,
  disabledReason: row.disabledReason,
  createdAt: row.createdAt.toISOString(),
});

const checkUrl = (context: Context, scope: Scope, url: string): void => {
  const refused = context.refuseUrl(url, scope.environment);
  if (refused) throw invalid('url', `url ${refused}.`);
};

export const findEndpoint = async (context: Context, scope: Scope, id: string): Promise<EndpointRow> => {
  const row = isId('endpoint', id) ? await readEndpoint(context.db, scope, id) : null;
  if (!row) throw noSuchEndpoint();
  return row;
};

/** Only creating and rotating return the secret. */
export type EndpointWithSecret = { readonly row: EndpointRow; readonly secret: string };

const refuseTooMany = async (tx: Queryable, scope: Scope): Promise<void> => {
  if ((await countEndpointsLocked(tx, scope)) < maxEndpoints) return;
  const message = `The ${scope.environment} environment already has the maximum of ${maxEndpoints} webhook endpoints. Delete one first.`;
  throw new FlorinError('conflict', message);
};

/** Creates an endpoint and its secret. */
export const createEndpoint =
  (context: Context, request: EndpointRequest): Work<EndpointWithSecret> =>
  async (tx, { scope }) => {
    checkUrl(context, scope, request.url);
    await refuseTooMany(tx, scope);
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
    const { url, events } = row;
    return { value: { row, secret }, deed: { action: 'webhook.created', subject: id, detail: { url, events } } };
  };

/** The endpoint as it is now, in the caller's transaction. */
const readOwn = async (tx: Queryable, scope: Scope, id: string): Promise<EndpointRow> => {
  const row = isId('endpoint', id) ? await readEndpoint(tx, scope, id) : null;
  if (!row) throw noSuchEndpoint();
  return row;
};

const changedOf = (before: EndpointRow, after: EndpointRow): Record<string, { before: unknown; after: unknown }> => {
  const names = ['url', 'events', 'description', 'status'] as const;
  const changed = names.filter(name => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map(name => [name, { before: before[name], after: after[name] }]));
};

const secretsOf = (context: Pick<Context, 'vault'>, scope: Scope, row: EndpointRow, nowMs: number): string[] => {
  const open = (sealed: Buffer) => context.vault.open(sealed, endpointSecretContext(scope, row.id)).toString('utf8');
  const overlapping = row.previousSecrets.filter((_, i) => row.previousSecretsUntil[i]!.getTime() > nowMs);
  return [row.secret, ...overlapping].map(open);
};

const dayMs = 24 * 3_600_000;

/**
 * Whoever was told of security events is told of the change that ends that, or leads it elsewhere, where they were told
 * before. Undefined if they hear of it anyway, or never asked. Endpoints that are made and deleted in a row share a budget,
 * so that they neither send without end nor use up that of an older one.
 */
const farewellOf = (
  context: Pick<Context, 'clock' | 'vault'>,
  scope: Scope,
  before: EndpointRow,
  after: EndpointRow | null,
): Farewell | undefined => {
  const isTold = (row: EndpointRow): boolean => row.status === 'enabled' && row.events.includes('account.security');
  if (!isTold(before) || (after !== null && isTold(after) && after.url === before.url)) return undefined;
  const nowMs = context.clock.nowMs();
  const countedFor = nowMs - before.createdAt.getTime() > dayMs ? before.id : null;
  return { url: before.url, secrets: secretsOf(context, scope, before, nowMs), countedFor };
};

export const changeEndpoint =
  (context: Context, id: string, change: EndpointChange): Work<EndpointRow> =>
  async (tx, { scope }) => {
    if (change.url !== undefined) checkUrl(context, scope, change.url);
    const before = await readOwn(tx, scope, id);
    const row = await updateEndpoint(tx, scope, id, change);
    if (!row) throw noSuchEndpoint();
    if (change.status === 'enabled' || change.url !== undefined) await announceEndpoint(tx, scope, id);
    const detail = changedOf(before, row);
    if (Object.keys(detail).length === 0) return { value: row, deed: null };
    const farewell = farewellOf(context, scope, before, row);
    return { value: row, deed: { action: 'webhook.changed', subject: id, detail, farewell } };
  };

export const removeEndpoint =
  (context: Pick<Context, 'clock' | 'vault'>, id: string): Work<EndpointRow> =>
  async (tx, { scope }) => {
    const row = await readOwn(tx, scope, id);
    if (!(await deleteEndpoint(tx, scope, id))) throw noSuchEndpoint();
    const farewell = farewellOf(context, scope, row, null);
    return { value: row, deed: { action: 'webhook.deleted', subject: id, detail: { url: row.url }, farewell } };
  };

/** Replaces the secret. Each old secret also signs for a day after its rotation. */
export const rotateSecret =
  (context: Context, id: string): Work<EndpointWithSecret> =>
  async (tx, { scope }) => {
    const secret = generateWebhookSecret();
    const sealed = context.vault.seal(secret, endpointSecretContext(scope, id));
    const row = isId('endpoint', id) ? await rotateEndpointSecret(tx, scope, id, sealed) : null;
    if (!row) throw noSuchEndpoint();
    return { value: { row, secret }, deed: { action: 'secret.rotated', subject: id, detail: { url: row.url } } };
  };

/** Its audit row is written before the secret is shown. */
export const revealSecret =
  (context: Context, id: string): Work<string> =>
  async (tx, { scope }) => {
    const row = await readOwn(tx, scope, id);
    const secret = context.vault.open(row.secret, endpointSecretContext(scope, row.id)).toString('utf8');
    return { value: secret, deed: { action: 'secret.revealed', subject: id, detail: { url: row.url } } };
  };

/** Which event to send, and the trace of the request that asks for it. */
type TestOf = { readonly type: EventType; readonly trace: TraceContext | null };

/**
 * Sends a signed test event now and returns the result. Also works for disabled endpoints, so that merchants can test
 * them.
 */
export const sendTest = async (
  context: Context,
  scope: Scope,
  row: EndpointRow,
  { type, trace }: TestOf,
): Promise<TestResult> => {
  const { environment } = scope;
  const { id: eventId, ms: atMs } = context.ids.next('event', context.clock.nowMs());
  const event = { id: eventId, type, atMs, environment, endpointId: row.id };
  const outcome = await context.deliver({
    environment,
    url: row.url,
    secrets: secretsOf(context, scope, row, atMs),
    eventId,
    atMs,
    body: renderTestEvent(context.environments[environment], event),
    trace: trace && keptTrace(trace),
  });
  if (outcome.delivered) await markEndpointTested(context.db, scope, row.id);
  return { eventId, ...outcome };
};

export const testEndpoint = async (
  context: Context,
  scope: Scope,
  id: string,
  test: TestOf,
  idempotency: IdempotentRequest | null,
): Promise<Answer> => {
  const row = await findEndpoint(context, scope, id);
  return idempotentlyHeld(context, scope, idempotency, async () => ({
    body: JSON.stringify(await sendTest(context, scope, row, test)),
  }));
};
